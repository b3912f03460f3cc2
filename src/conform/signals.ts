import type { Source } from '../model/agent.ts';
import type { SignalResult } from '../watch/conformance-results.ts';
import type { Heard } from './truth.ts';

/** By step: the words that count as right. A step that is not here, this source cannot tell. */
export type Tells = Partial<Record<Heard['step'], readonly string[]>>;

/** What each source can tell of the states of a client. */
export type Signals = Partial<Record<Source, Tells>>;

/** Of the looks at one stretch: less than that is not a slow moment of the machine. */
const rightShareMin = 0.8;

/** The screen is judged where it is asked all the time, everything else where there is everything. */
export function judgeSignals(signals: Signals, everything: Heard[], screenOnly: Heard[]): SignalResult[] {
  return (Object.entries(signals) as [Source, Tells][]).map(([source, tells]) =>
    judgeSignal(source, tells, source === 'screen' ? screenOnly : everything),
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
