import type { Source } from '../model/agent.ts';
import type { SignalResult } from '../watch/conformance-results.ts';
import { type Step, steps } from './steps.ts';
import type { Heard } from './truth.ts';

/** By step: the words that count as right. A step that is not here, this source cannot tell. */
type Tells = Partial<Record<Heard['step'], readonly string[]>>;

/** Each in its own words: a source that only knows that something runs is not blamed for not knowing what. */
const someWork = ['working/thinking'];
const someWait = ['waiting/permission', 'waiting/question'];
const plainly = (...told: Step[]): Tells => Object.fromEntries(told.map((step) => [step, [steps[step]]]));

/**
 * What each source was seen to tell by itself in Claude Code 2.1.325, three runs of three. Left out on purpose: hooks do
 * not tell of an interruption, of a dialog's answer or of the end of a compaction; the transcript has no dialogs, no
 * fresh prompt and no compaction until it is over.
 */
const tells: Record<Exclude<Source, 'process'>, Tells> = {
  registry: {
    ...plainly('fresh prompt', 'turn over', 'background shell', 'turn given up', 'interrupted', 'compacted', 'cleared'),
    ...plainly('permission dialog', 'question dialog', 'thinking'),
    'plan dialog': someWait,
    tool: someWork,
    'allowed tool': someWork,
    subagent: someWork,
    retrying: someWork,
    'API stall': someWork,
    compacting: someWork,
  },
  hook: {
    ...plainly('fresh prompt', 'turn over', 'background shell', 'turn given up', 'thinking', 'tool', 'subagent'),
    ...plainly('permission dialog', 'question dialog', 'plan dialog', 'compacting', 'cleared'),
    retrying: someWork,
    'API stall': someWork,
  },
  transcript: {
    ...plainly('turn over', 'background shell', 'turn given up', 'interrupted', 'compacted', 'thinking', 'tool'),
    ...plainly('allowed tool', 'subagent', 'retrying', 'usage limit'),
    'API stall': someWork,
    context: ['right'],
  },
  statusline: { context: ['right'] },
  screen: {
    ...plainly('fresh prompt', 'turn over', 'background shell', 'turn given up', 'interrupted', 'compacted', 'cleared'),
    ...plainly('permission dialog', 'question dialog', 'plan dialog', 'trust screen', 'usage limit', 'thinking'),
    ...plainly('subagent', 'retrying', 'API stall', 'compacting'),
    // The row with the command is only drawn after a while.
    tool: [...someWork, steps.tool],
    'allowed tool': [...someWork, steps.tool],
  },
};

/** Of the looks at one stretch: less than that is not a slow moment of the machine. */
const rightShareMin = 0.8;

/** The screen is judged where it is asked all the time, everything else where there is everything. */
export function judgeSignals(everything: Heard[], screenOnly: Heard[]): SignalResult[] {
  return (Object.keys(tells) as (keyof typeof tells)[]).map((source) =>
    judgeSignal(source, tells[source], source === 'screen' ? screenOnly : everything),
  );
}

function judgeSignal(source: Source, able: Tells, heard: Heard[]): SignalResult {
  const result: SignalResult = { source, holds: true, said: 0, right: 0, missed: [] };
  for (const [step, words] of Object.entries(able)) {
    const stretches = heard.filter((one) => one.source === source && one.step === step);
    if (stretches.length === 0) result.missed.push(`${step}: never looked at`);
    for (const stretch of stretches) {
      const { looks, said, right, instead } = count(stretch, words);
      result.said += said;
      result.right += right;
      if (right / looks < rightShareMin) result.missed.push(`${step}: ${instead}`);
    }
  }
  result.missed = [...new Set(result.missed)];
  result.holds = result.missed.length === 0;
  return result;
}

function count({ words }: Heard, wanted: readonly string[]) {
  const all = [...words];
  const sum = (some: [string | null, number][]) => some.reduce((total, [, times]) => total + times, 0);
  const wrong = all.filter(([word]) => word === null || !wanted.includes(word)).sort(([, a], [, b]) => b - a);
  return {
    looks: sum(all),
    said: sum(all.filter(([word]) => word !== null)),
    right: sum(all) - sum(wrong),
    /** What it said most of the time. */
    instead: wrong[0]?.[0] ?? 'silent',
  };
}
