import type { Source, SourceFact } from '../model/agent.ts';
import type { SignalResult } from '../watch/conformance-results.ts';
import { steps } from './steps.ts';
import type { Heard } from './truth.ts';

/** By step: the words that count as right. A step that is not here, this source cannot tell. */
export type Tells = Partial<Record<Heard['step'], readonly string[]>>;

/** What each source can tell of the states of a client. */
export type Signals = Partial<Record<Source, Tells>>;

/** Which fact each step is about. */
const facts: Record<Heard['step'], SourceFact> = {
  'fresh prompt': 'turns',
  thinking: 'turns',
  tool: 'tools',
  'allowed tool': 'tools',
  'turn over': 'turns',
  'permission dialog': 'dialogs',
  'question dialog': 'dialogs',
  'plan dialog': 'dialogs',
  'trust screen': 'dialogs',
  subagent: 'subagents',
  'background shell': 'turns',
  retrying: 'retries',
  'API stall': 'stalls',
  'turn given up': 'turns',
  interrupted: 'turns',
  compacting: 'compaction',
  compacted: 'compaction',
  cleared: 'turns',
  'usage limit': 'limits',
  exited: 'turns',
  killed: 'turns',
  context: 'context',
};

/** Of the looks at one stretch: less than that is not a slow moment of the machine. */
const rightShareMin = 0.8;

/** The screen is judged where it is asked all the time, everything else where there is everything. */
export function judgeSignals(signals: Signals, everything: Heard[], screenOnly: Heard[]): SignalResult[] {
  return (Object.entries(signals) as [Source, Tells][]).map(([source, tells]) =>
    judgeSignal(source, tells, source === 'screen' ? screenOnly : everything),
  );
}

function judgeSignal(source: Source, able: Tells, heard: Heard[]): SignalResult {
  const result: SignalResult = { source, holds: true, said: 0, right: 0, missed: [], off: [] };
  const off = new Set<SourceFact>();
  for (const [step, words] of Object.entries(able) as [Heard['step'], readonly string[]][]) {
    const everyone = heard.filter((one) => one.step === step);
    const stretches = everyone.filter((one) => one.source === source);
    // Where nobody was heard, it was not played.
    if (stretches.length === 0 && everyone.length > 0) {
      result.missed.push(`${step}: never looked at`);
      off.add(facts[step]);
    }
    for (const stretch of stretches) {
      const { looks, said, right, instead } = count(stretch, words);
      result.said += said;
      result.right += right;
      if (right / looks >= rightShareMin) continue;
      result.missed.push(`${step}: ${instead}`);
      for (const fact of blamed(step, instead)) off.add(fact);
    }
  }
  result.missed = [...new Set(result.missed)];
  result.holds = result.missed.length === 0;
  result.off = [...off];
  return result;
}

/**
 * The fact itself, or where a turn was rightly seen, what was wrongly seen in it. A source that at work or in a dialog would
 * let one type as at a prompt loses its word on turns as well.
 */
function blamed(step: Heard['step'], instead: string): SourceFact[] {
  if (step === 'context') return ['context'];
  const truth = steps[step];
  const seen = within.find(([word]) => instead.startsWith(word))?.[1];
  if (facts[step] === 'turns' && seen !== undefined) return [seen];
  const isUnsafe =
    (instead === 'idle' && truth.startsWith('working')) ||
    (truth.startsWith('waiting') && /^(idle|working|retrying|compacting|limited)/.test(instead));
  return isUnsafe ? [facts[step], 'turns'] : [facts[step]];
}

/** What is seen within a turn, or beside it. */
const within: readonly [string, SourceFact][] = [
  ['working/tool', 'tools'],
  ['working/subagent', 'subagents'],
  ['working/api-stall', 'stalls'],
  ['retrying', 'retries'],
  ['compacting', 'compaction'],
  ['limited', 'limits'],
  ['waiting', 'dialogs'],
];

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
