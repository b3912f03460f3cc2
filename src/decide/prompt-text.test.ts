import { describe, expect, it } from 'vitest';
import { whyUnsafe } from './prompt-text.ts';

describe('unsafe text is refused, not repaired', () => {
  it.each([
    ['', /empty/],
    ['  \n ', /empty/],
    ['!rm -rf /', /shell command/],
    ['  !ls', /shell command/],
    ['/clear', /command of the client/],
    [' /clear now', /command of the client/],
    ['\n/clear', /command of the client/],
    ['go on \\', /submitted/],
    ['go on \\  ', /submitted/],
    ['a\u001b[31mb', /control/],
    ['a\tb', /control/],
    ['a\rb', /control/],
    ['a\u202eb', /invisible/],
    // Blank on the screen, letters to Unicode: a command of the client would be seen behind them.
    ['\u115f/clear', /invisible/],
    ['\u3164!ls', /invisible/],
    ['a\ud800b', /control/],
    ['well done 👍🏽', /skin tones/],
    ['  indented', /leading blanks/],
    ['cafe\u0301', /normal form/],
    ['x'.repeat(100_001), /longer/],
  ])('%j', (text, why) => expect(whyUnsafe(text, false)).toMatch(why));

  it('two lines only where no shell is beneath', () => {
    expect(whyUnsafe('one\ntwo', true)).toMatch(/shell/);
    expect(whyUnsafe('one\ntwo', false)).toBeNull();
  });

  it.each([
    'continue',
    '- a list',
    'ends with ;',
    'Enter',
    '# heading',
    '@file',
    'grüße 日本 🎉 👩‍💻'.replace('\u200d', ''),
    '$HOME `x` "y"',
    "it's ! and /",
  ])('fine: %s', (text) => expect(whyUnsafe(text, true)).toBeNull());
});
