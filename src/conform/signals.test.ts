import { describe, expect, it } from 'vitest';
import { signals } from '../clients/claude-code/conform/signals.ts';
import type { SourceFact } from '../model/agent.ts';
import { judgeSignals } from './signals.ts';
import { steps, type TrialStep } from './steps.ts';
import type { Heard } from './truth.ts';

const sources = ['registry', 'hook', 'transcript', 'statusline', 'screen'];
/** What a good run of 2.1.325 hears where a source does not simply say the truth. */
const otherwise: Record<string, Partial<Record<TrialStep, string | null>>> = {
  registry: {
    'plan dialog': 'waiting/permission',
    tool: 'working/thinking',
    'allowed tool': 'working/thinking',
    subagent: 'working/thinking',
    retrying: 'working/thinking',
    'API stall': 'working/thinking',
    compacting: 'working/thinking',
    'usage limit': 'idle',
    'trust screen': null,
  },
  hook: {
    'allowed tool': 'waiting/permission',
    interrupted: 'working/thinking',
    compacted: 'working/thinking',
    retrying: 'working/thinking',
    'API stall': 'working/thinking',
    'usage limit': 'idle',
  },
  transcript: {
    'permission dialog': 'working/tool Bash',
    'fresh prompt': null,
    'API stall': 'working/thinking',
    compacting: 'idle',
  },
  screen: { 'allowed tool': 'working/thinking' },
};

const truth = { ...steps, tool: 'working/tool Bash', 'allowed tool': 'working/tool Bash' };

function goodRun(): Heard[] {
  const states = sources.flatMap((source) =>
    (Object.keys(steps) as TrialStep[]).map((step): Heard => {
      const other = otherwise[source]?.[step];
      const word = source === 'statusline' ? null : other === undefined ? truth[step] : other;
      return { step, source, words: new Map([[word, 8]]) };
    }),
  );
  const contexts = ['transcript', 'statusline'].map(
    (source): Heard => ({ step: 'context', source, words: new Map([['right', 8]]) }),
  );
  return [...states, ...contexts];
}

function withWords(source: string, step: Heard['step'], words: [string | null, number][]): Heard[] {
  return goodRun().map((heard) =>
    heard.source === source && heard.step === step ? { ...heard, words: new Map(words) } : heard,
  );
}

const broken = (heard: Heard[]) => judgeSignals(signals, heard, heard).filter(({ holds }) => !holds);

describe('judging the signals of a run', () => {
  it('as the reference version does: every source holds', () => {
    expect(broken(goodRun())).toEqual([]);
    expect(judgeSignals(signals, goodRun(), goodRun()).map(({ source }) => source)).toEqual(sources);
  });

  const cases: [string, string, Heard['step'], [string | null, number][], string][] = [
    ['says nothing', 'registry', 'turn over', [[null, 8]], 'turn over: silent'],
    ['lies', 'registry', 'permission dialog', [['idle', 8]], 'permission dialog: idle'],
    [
      'is stuck for a quarter of the time',
      'hook',
      'thinking',
      [
        ['working/thinking', 6],
        ['idle', 2],
      ],
      'thinking: idle',
    ],
    ['has another figure', 'statusline', 'context', [['7, not 13345', 8]], 'context: 7, not 13345'],
    ['counts wrong', 'transcript', 'context', [['7, not 13345', 8]], 'context: 7, not 13345'],
    ['does not know a dialog', 'screen', 'plan dialog', [['waiting/dialog', 8]], 'plan dialog: waiting/dialog'],
  ];
  for (const [how, source, step, words, missed] of cases) {
    it(`a ${source} that ${how} does not hold, and the others do`, () => {
      expect(broken(withWords(source, step, words))).toMatchObject([{ source, missed: [missed] }]);
    });
  }

  it('one slow look in eight is no reason', () => {
    expect(
      broken(
        withWords('hook', 'thinking', [
          ['working/thinking', 7],
          ['idle', 1],
        ]),
      ),
    ).toEqual([]);
  });

  it('what was never looked at is not taken for good', () => {
    const heard = goodRun().filter(({ source, step }) => source !== 'hook' || step !== 'subagent');
    expect(broken(heard)).toMatchObject([{ source: 'hook', missed: ['subagent: never looked at'] }]);
  });

  it('what nobody was heard in was not played: nobody is blamed', () => {
    expect(broken(goodRun().filter(({ step }) => step !== 'plan dialog'))).toEqual([]);
  });

  const offs: [string, string, Heard['step'], string | null, SourceFact[]][] = [
    [
      'one missed `compacted` takes that away, not the transcript',
      'transcript',
      'compacted',
      'compacting',
      ['compaction'],
    ],
    ['nor where it says that it works', 'transcript', 'compacted', 'working/thinking', ['compaction']],
    [
      'a tool at work where none is any more: its word on tools',
      'transcript',
      'thinking',
      'working/tool Bash',
      ['tools'],
    ],
    ['a subagent that is gone: its word on subagents', 'screen', 'turn over', 'working/subagent', ['subagents']],
    ['at work where the turn is over: its word on turns', 'registry', 'turn over', 'working/thinking', ['turns']],
    ['idle at work: its word on turns', 'registry', 'thinking', 'idle', ['turns']],
    ['idle while a tool runs: that too', 'registry', 'tool', 'idle', ['tools', 'turns']],
    ['idle in a dialog: that too', 'registry', 'permission dialog', 'idle', ['dialogs', 'turns']],
    ['at work in a dialog: that too', 'hook', 'question dialog', 'working/thinking', ['dialogs', 'turns']],
    ['another dialog: its word on dialogs', 'screen', 'plan dialog', 'waiting/dialog', ['dialogs']],
    ['silent in a dialog', 'screen', 'trust screen', null, ['dialogs']],
    ['another figure', 'statusline', 'context', '7, not 13345', ['context']],
  ];
  it.each(offs)('%s', (_what, source, step, word, off) => {
    expect(broken(withWords(source, step, [[word, 8]]))).toMatchObject([{ source, off }]);
  });

  it('the screen counts only where it is asked all the time', () => {
    const silent = goodRun().map((heard) =>
      heard.source === 'screen' ? { ...heard, words: new Map([[null, 8]]) } : heard,
    );
    expect(judgeSignals(signals, silent, goodRun()).every(({ holds }) => holds)).toBe(true);
    expect(judgeSignals(signals, goodRun(), silent).filter(({ holds }) => !holds)).toMatchObject([
      { source: 'screen' },
    ]);
  });
});
