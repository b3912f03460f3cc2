import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whyUnsafe } from './prompt-text.ts';
import { checkTemplates, defaultTemplates, fillTemplate, type SlotValues, type TemplateName } from './templates.ts';

/** Every template with slots as a rule gives them. */
const usual: Record<TemplateName, SlotValues> = {
  'spawn-update': {},
  'spawn-stalled': { task: 'task-123', minutes: 15.4, output: '/tmp/out put.log' },
  'spawn-failed': { task: 'task-123', error: 'exit code 3', output: '/tmp/out put.log' },
  'spawn-abandoned': { task: 'task-123', minutes: 30, output: '/tmp/out put.log' },
  'context-check': {},
  'high-context': { percent: 71.6 },
  handoff: {
    why: 'your context window is 87% full',
    file: '.watchkeeper/handoffs/handoff-2026-01-22-15-30-00.md',
    nonce: 'wk-1a2b3c4d',
    background: 'none',
  },
  'handoff-again': { problems: 'the section Goal is missing', file: 'handoff.md', nonce: 'wk-1a2b3c4d' },
  'handoff-resume': { file: '.watchkeeper/handoffs/handoff-2026-01-22-15-30-00.md' },
  continue: { error: 'API Error: 529 Overloaded' },
  stalled: { minutes: 5, activity: 'running Bash' },
};
const names = Object.keys(usual) as TemplateName[];

function text(name: TemplateName, slots: SlotValues, overrides = {}): string {
  const filled = fillTemplate(name, slots, overrides);
  if (!filled.ok) throw new Error(filled.reason);
  return filled.text;
}

function refused(name: TemplateName, slots: SlotValues, overrides = {}): string {
  const filled = fillTemplate(name, slots, overrides);
  if (filled.ok) throw new Error(`filled: ${filled.text}`);
  return filled.reason;
}

describe('the words of the seeds', () => {
  it.each<[TemplateName, string]>([
    ['spawn-update', 'Please check the status of your active spawns and give a brief progress update.'],
    [
      'spawn-stalled',
      'Spawn task-123 has not produced output for 15 minutes (output file /tmp/out put.log). Please investigate and report in a few lines.',
    ],
    [
      'context-check',
      'Please report your current context window usage from the system warnings, in one line of the form Context: P% (USED/WINDOW tokens).',
    ],
    [
      'high-context',
      'Your context window is 72% full. Please take on small tasks only, and create a handoff document after the current work.',
    ],
    [
      'handoff',
      'Please write a handoff document now (your context window is 87% full), to the file .watchkeeper/handoffs/handoff-2026-01-22-15-30-00.md, so that a fresh context can go on from it alone, and start nothing new. Give it these headings, with text under each: Goal, State, Decisions, Next step, Open files, Background work (by id, running now: none), How to verify, Git HEAD (the commit id), Nonce (wk-1a2b3c4d). Decisions, Open files and Background work may be none, and Git HEAD where there is no repository. End your turn when it is written.',
    ],
    [
      'handoff-resume',
      'Please read the handoff document .watchkeeper/handoffs/handoff-2026-01-22-15-30-00.md now and resume the work from it, beginning with its next step. You wrote it yourself before your context was cleared.',
    ],
    [
      'continue',
      'The last turn ended with an API error (API Error: 529 Overloaded). Please continue with the work where it stopped. If it is done, say so in one line.',
    ],
    [
      'stalled',
      'There has been no sign of progress for 5 minutes (running Bash). Please check what is holding the work up, then continue or report in one line.',
    ],
  ])('%s', (name, expected) => expect(text(name, usual[name])).toBe(expected));

  it.each(Object.entries(defaultTemplates()))('%s means nothing to a shell', (_key, words) => {
    expect(words).not.toMatch(/[$`;|&<>!\\"'\n]/);
  });

  it('pass their own check', () => expect(checkTemplates(defaultTemplates())).toEqual([]));
});

describe('a slot takes what its kind allows', () => {
  it.each<[string, TemplateName, SlotValues, string]>([
    ['a fraction of a minute', 'stalled', { minutes: 0.05, activity: 'thinking' }, 'for 0.1 minutes'],
    ['a number as text', 'stalled', { minutes: '12', activity: 'thinking' }, 'for 12 minutes'],
    [
      'an error with a shell in it',
      'continue',
      { error: '$(touch /tmp/x); `id` | sh' },
      'error ((touch /tmp/x) id sh).',
    ],
    ['an error that begins with !', 'continue', { error: '!ls' }, 'error (ls).'],
    ['an error that ends with a backslash', 'continue', { error: 'oops\\' }, 'error (oops).'],
    ['a long error, cut', 'continue', { error: 'é'.repeat(500) }, `(${'é'.repeat(159)}…).`],
    ['a long error of pairs, never half of one', 'continue', { error: '🎉'.repeat(500) }, `(${'🎉'.repeat(159)}…).`],
    [
      'a long task, cut',
      'spawn-stalled',
      { ...usual['spawn-stalled'], task: 't'.repeat(101) },
      `${'t'.repeat(99)}… has`,
    ],
    ['what looks like a slot', 'stalled', { minutes: 5, activity: '{minutes} $1 $&' }, '({minutes} 1).'],
    ['blanks around', 'continue', { error: '  529  ' }, 'error (529).'],
  ])('%s', (_name, name, slots, expected) => expect(text(name, slots)).toContain(expected));

  it.each<[string, TemplateName, SlotValues, RegExp]>([
    ['two lines', 'continue', { error: 'a\nb' }, /slot error: it has more than one line/],
    ['a carriage return', 'continue', { error: 'a\rb' }, /control/],
    ['an escape', 'continue', { error: 'a\u001b[31mb' }, /control/],
    ['a bidi override', 'continue', { error: 'a\u202eb' }, /invisible/],
    ['a zero-width space', 'continue', { error: 'a\u200bb' }, /invisible/],
    ['a line separator', 'continue', { error: 'a\u2028b' }, /invisible/],
    ['half a pair', 'continue', { error: 'a\ud83c' }, /control/],
    ['nothing', 'continue', { error: '  ' }, /empty/],
    ['nothing that can be said', 'continue', { error: '$!' }, /nothing of it/],
    ['a text without end', 'continue', { error: 'x'.repeat(200_000) }, /longer/],
    ['a number that is none', 'high-context', { percent: Number.NaN }, /no number/],
    ['no end', 'stalled', { minutes: Number.POSITIVE_INFINITY, activity: 'x' }, /no number/],
    ['below nothing', 'stalled', { minutes: -1, activity: 'x' }, /no number/],
    ['words for a number', 'high-context', { percent: 'all' }, /no number/],
    ['more than all', 'high-context', { percent: 101 }, /no number/],
    ['a path that is too long', 'handoff', { ...usual.handoff, file: 'x'.repeat(301) }, /longer than 300/],
    ['a path with a shell in it', 'handoff', { ...usual.handoff, file: 'a$(id).md' }, /shell/],
    ['a task with a shell in it', 'spawn-stalled', { ...usual['spawn-stalled'], task: 'a;b' }, /shell/],
    ['a slot missing', 'stalled', { minutes: 5 }, /stalled lacks its slot activity/],
    ['a slot too many', 'continue', { error: 'x', minutes: 5 }, /continue has no slot "minutes"/],
    ['a slot of the prototype', 'continue', { error: 'x', toString: 'y' }, /no slot "toString"/],
  ])('not: %s', (_name, name, slots, why) => expect(refused(name, slots)).toMatch(why));

  it('nothing a slot could hold makes the text unsafe, longer than a screen or two lines', { timeout: 60_000 }, () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.double(),
      fc.constantFrom('!', '/', '\\', '\n'),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(value, { minLength: 4, maxLength: 4 }), (name, values) => {
        const slots = Object.fromEntries(Object.keys(usual[name]).map((slot, index) => [slot, values[index] ?? '']));
        const filled = fillTemplate(name, slots, {});
        if (filled.ok) expect([whyUnsafe(filled.text, true), filled.text.length < 1_500]).toEqual([null, true]);
      }),
    );
  });
});

describe('other words from the configuration', () => {
  it('are used in place of the own ones', () => {
    expect(text('continue', { error: '529' }, { continue: 'Weiter, trotz {error}.' })).toBe('Weiter, trotz 529.');
    expect(text('stalled', usual.stalled, { continue: 'x' })).toContain('no sign of progress');
  });

  it('need not use every slot, and may use one twice', () => {
    expect(text('continue', { error: '529' }, { continue: 'Please go on.' })).toBe('Please go on.');
    expect(text('continue', { error: '529' }, { continue: 'After {error} and {error}.' })).toBe('After 529 and 529.');
  });

  it('may end with a slot, and are refused when that makes them unsafe', () => {
    const overrides = { spawnStalled: 'Look at {task}' };
    expect(text('spawn-stalled', usual['spawn-stalled'], overrides)).toBe('Look at task-123');
    expect(refused('spawn-stalled', { ...usual['spawn-stalled'], task: 'a\\' }, overrides)).toMatch(/shell/);
  });

  it('are checked again when used, whoever passed them', () => {
    expect(refused('continue', { error: '529' }, { continue: '/clear {error}' })).toMatch(/command of the client/);
  });

  const allowed = 'allowed is one line of at most 1000 characters with the slots {error}';
  it.each<[string, string, string | null]>([
    ['plain words', 'Please go on.', null],
    ['its slot', 'Go on after {error}.', null],
    ['exactly 1000 characters', 'x'.repeat(1_000), null],
    ['one more', 'x'.repeat(1_001), 'it has 1001 characters'],
    ["another template's slot", 'Go on after {minutes}.', 'it has no slot {minutes}'],
    ['an open brace', 'Go on after {error', 'it holds a brace that belongs to no slot'],
    ['a slot with blanks', 'Go on after { error }.', 'it holds a brace that belongs to no slot'],
    ['a slot within a slot', 'Go on {{error}}.', 'it holds a brace that belongs to no slot'],
    ['a slot first', '{error}: go on.', 'it begins with a slot'],
    ['a slot first, after blanks', '  {error}: go on.', 'it begins with a slot'],
    ['two lines', 'Go on.\nPlease.', 'it has more than one line'],
    ['nothing', '', 'the text is empty'],
    ['a shell command', '!ls', 'a leading `!` would run it as a shell command'],
    ['a command of the client', ' /clear', 'a leading `/` would make it a command of the client'],
    ['a trailing backslash', 'Go on \\', 'a trailing `\\` would keep it from being submitted'],
    ['an escape', 'Go \u001b[1mon', 'it holds control or invisible characters'],
  ])('are checked at load: %s', (_name, words, reason) => {
    const problems = reason === null ? [] : [{ key: 'continue', reason: `${reason}; ${allowed}` }];
    expect(checkTemplates({ continue: words })).toEqual(problems);
  });

  it('must say where a handoff goes', () => {
    expect(checkTemplates({ handoff: 'Hand off now.' })[0]?.reason).toMatch(/^it lacks \{file\}; /);
    expect(checkTemplates({ handoff: 'Hand off to {file}.' })[0]?.reason).toMatch(/^it lacks \{nonce\}; /);
  });

  it('are all checked', () => {
    const keys = checkTemplates({ stalled: '', spawnUpdate: '{x}', highContext: 'fine' }).map(({ key }) => key);
    expect(keys).toEqual(['spawnUpdate', 'stalled']);
  });
});
