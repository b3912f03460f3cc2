import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseContextAnswer } from './context-answer.ts';

const seed = { used: 63_153, window: 200_000 };

describe('an answer about the context is read', () => {
  it.each<[string, string, { used: number; window: number }]>([
    ['as the seed has it', 'Context: 31.6% (63,153/200,000 tokens)', seed],
    ['without separators', 'Context: 31.6% (63153/200000 tokens)', seed],
    ['with dots, and a comma in the percent', 'Context: 31,6% (63.153/200.000 tokens)', seed],
    ['with apostrophes', "Context: 31.6% (63'153/200'000 tokens)", seed],
    ['with typographic apostrophes', 'Context: 31.6% (63’153/200’000 tokens)', seed],
    ['with thin spaces', 'Context: 31.6% (63\u2009153/200\u2009000 tokens)', seed],
    ['with narrow no-break spaces', 'Context: 31,6\u202f% (63\u202f153/200\u202f000 tokens)', seed],
    ['with underscores', 'Context: 31.6% (63_153/200_000 tokens)', seed],
    ['with spaces as separators', 'Context: 31.6% (63 153 / 200 000 tokens)', seed],
    ['one number with and one without', 'Context: 31.6% (63153/200,000 tokens)', seed],
    ['without decimals', 'Context: 32% (63,153/200,000 tokens)', seed],
    ['with many decimals', 'Context: 31.5765% (63,153/200,000 tokens)', seed],
    ['with no space at all', 'Context:31.6%(63,153/200,000tokens)', seed],
    ['with much space', 'Context :  31.6 %  ( 63,153 / 200,000  tokens )', seed],
    ['with tabs', 'Context:\t31.6%\t(63,153/200,000\ttokens)', seed],
    ['in capitals', 'CONTEXT: 31.6% (63,153/200,000 TOKENS)', seed],
    ['in small letters', 'context: 31.6% (63,153/200,000 tokens)', seed],
    ['without a colon', 'Context 31.6% (63,153/200,000 tokens)', seed],
    ['without the word tokens', 'Context: 31.6% (63,153/200,000)', seed],
    ['with a longer label', 'Context window usage: 31.6% (63,153/200,000 tokens)', seed],
    ['as an estimate', 'Context: ~31.6% (63,153/200,000 tokens)', seed],
    ['with a bold label', '**Context:** 31.6% (63,153/200,000 tokens)', seed],
    ['in bold', '**Context: 31.6%** (63,153/200,000 tokens)', seed],
    ['as code', '`Context: 31.6% (63,153/200,000 tokens)`', seed],
    ['within a longer answer', 'Sure.\n\n- Context: 31.6% (63,153/200,000 tokens).\n- No spawns run.', seed],
    ['behind a sentence', 'From the warnings I see Context: 31.6% (63,153/200,000 tokens), all fine', seed],
    ['behind other numbers', '3 files, 12% (1/8) done. Context: 31.6% (63,153/200,000 tokens)', seed],
    ['empty', 'Context: 0% (0/200,000 tokens)', { used: 0, window: 200_000 }],
    ['full', 'Context: 100% (200,000/200,000 tokens)', { used: 200_000, window: 200_000 }],
    ['a little over', 'Context: 104% (208,000/200,000 tokens)', { used: 208_000, window: 200_000 }],
    ['of a million', 'Context: 12.5% (125,000/1,000,000 tokens)', { used: 125_000, window: 1_000_000 }],
    ['of the smallest window', 'Context: 50% (500/1,000 tokens)', { used: 500, window: 1_000 }],
    ['of the largest', 'Context: 50% (5,000,000/10,000,000 tokens)', { used: 5_000_000, window: 10_000_000 }],
    ['two points off', 'Context: 30% (64,000/200,000 tokens)', { used: 64_000, window: 200_000 }],
  ])('%s', (_name, text, expected) => {
    expect(parseContextAnswer(text)).toEqual({ ...expected, percent: (expected.used * 100) / expected.window });
  });
});

describe('nonsense is rejected', () => {
  it.each([
    ['nothing', ''],
    ['another topic', 'All spawns are done.'],
    ['not anchored to the word', 'Usage: 31.6% (63,153/200,000 tokens)'],
    ['a word that only ends so', 'Subcontext: 31.6% (63,153/200,000 tokens)'],
    ['a word that only begins so', 'Contextual: 31.6% (63,153/200,000 tokens)'],
    ['the form that was asked for', 'Context: P% (USED/WINDOW tokens)'],
    ['no numbers of tokens', 'Context: 31.6%'],
    ['no percent', 'Context: 63,153/200,000 tokens'],
    ['more used than there is', 'Context: 106% (212,000/200,000 tokens)'],
    ['a window too small', 'Context: 50% (499/999 tokens)'],
    ['a window too large', 'Context: 50% (5,000,001/10,000,001 tokens)'],
    ['no window', 'Context: 0% (0/0 tokens)'],
    ['a percent that contradicts', 'Context: 61.6% (63,153/200,000 tokens)'],
    ['just more than two points off', 'Context: 29.9% (64,000/200,000 tokens)'],
    ['remaining instead of used', 'Context: 31.6% (136,847/200,000 tokens)'],
    ['a negative percent', 'Context: -31.6% (63,153/200,000 tokens)'],
    ['negative tokens', 'Context: 31.6% (-63,153/200,000 tokens)'],
    ['no number', 'Context: NaN% (NaN/200,000 tokens)'],
    ['infinity', 'Context: Infinity% (63,153/0 tokens)'],
    ['mixed separators', 'Context: 31.6% (63,153/1.200,000 tokens)'],
    ['groups that are none', 'Context: 31.6% (631,53/2000,00 tokens)'],
    ['a number without end', `Context: 31.6% (63153/${'2'.repeat(400)} tokens)`],
    ['over two lines', 'Context:\n31.6%\n(63,153/200,000 tokens)'],
  ])('%s', (_name, text) => expect(parseContextAnswer(text)).toBeNull());

  it('and does not take long over it', () => {
    const started = performance.now();
    for (const piece of [
      'context ',
      'context: 1',
      'context: 1% (1,111',
      'context: 1% (1 111 / 1 ',
      '*',
      ' ',
      '1,111',
    ]) {
      parseContextAnswer(piece.repeat(50_000));
      parseContextAnswer(`context: 1% (1${piece.repeat(50_000)}`);
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('of several, the last that makes sense counts', () => {
  const early = 'Context: 20% (40,000/200,000 tokens)';
  const late = 'Context: 31.6% (63,153/200,000 tokens)';
  it.each<[string, string, number | null]>([
    ['the same twice', `${late}\n${late}`, 63_153],
    ['an old one first', `Before: ${early}. Now: ${late}`, 63_153],
    ['nonsense first', `Context: 99% (1/200,000 tokens) or ${late}`, 63_153],
    ['nonsense last', `${late}, that is Context: 99% (1/200,000 tokens)`, 63_153],
    ['nonsense only', 'Context: 99% (1/200,000 tokens). Context: 1% (199,999/200,000 tokens)', null],
  ])('%s', (_name, text, used) => expect(parseContextAnswer(text)?.used ?? null).toBe(used));
});

describe('whatever comes', () => {
  it('every true answer is read back, in every way of writing it', () => {
    const separators = ['', ',', '.', "'", '_', '\u2009', '\u202f'];
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 10_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(...separators),
        fc.integer({ min: 0, max: 6 }),
        (window, share, by, decimals) => {
          const used = Math.floor(window * share);
          const grouped = (n: number) => String(n).replaceAll(/\B(?=(\d{3})+$)/g, by);
          const text = `Context: ${((used / window) * 100).toFixed(decimals)}% (${grouped(used)}/${grouped(window)} tokens)`;
          expect(parseContextAnswer(text)).toMatchObject({ used, window });
        },
      ),
    );
  });

  it('nothing throws', { timeout: 60_000 }, () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseContextAnswer(`Context: ${text}`)));
  });
});
