import { type CallStep, StepPairs } from '../detect/loops/steps.ts';
import type { LabelledRun } from './labelled-runs.ts';
import { type Alarm, merged } from './score.ts';

/** What others do, as we read their rules. They live here only, to be compared with. */
export const baselines: Record<string, (steps: CallStep[]) => number[]> = {
  'same call x3': (steps) => whereLast(steps, 3, (last) => sameCall(last)),
  'OpenHands, four rules': (steps) => [
    ...whereLast(steps, 4, (last) => sameCall(last) && sameOutput(last)),
    ...whereLast(steps, 3, (last) => sameCall(last) && last.every(({ failed }) => failed)),
    ...whereLast(steps, 6, (last) => isCycle(last.map(callAndOutput), 2)),
  ],
  'gemini-cli, cycles': (steps) => [
    ...whereLast(steps, 5, (last) => sameCall(last)),
    ...[2, 3, 4, 5].flatMap((period) =>
      whereLast(steps, period * 3, (last) =>
        isCycle(
          last.map(({ call }) => call.hash),
          period,
        ),
      ),
    ),
  ],
  '6 errors of 10': (steps) => whereLast(steps, 10, (last) => last.filter(({ failed }) => failed).length >= 6),
  "the seeds' text rules": (steps) =>
    whereLast(steps, 5, (last) => last.every(({ result }) => /Error:|Failed:|Cannot|Exception/.test(result.lead))),
};

export function baselineAlarms(run: LabelledRun, rule: (steps: CallStep[]) => number[]): Alarm[] {
  const pairs = new StepPairs(() => {});
  const steps = run.events
    .filter(({ side }) => !side)
    .map((event) => pairs.take(event))
    .filter((step) => step !== null);
  const alarms = rule(steps).map((place) => {
    const { index, atMs } = steps[place] as CallStep;
    // As calm as ours has to be before the next one is another alarm.
    return { check: 'baseline', index, until: steps[place + 5]?.index ?? Number.POSITIVE_INFINITY, atMs };
  });
  return merged(alarms);
}

function whereLast(steps: CallStep[], n: number, test: (last: CallStep[]) => boolean): number[] {
  return steps.flatMap((_, place) => (place + 1 >= n && test(steps.slice(place + 1 - n, place + 1)) ? [place] : []));
}

function sameCall(steps: CallStep[]): boolean {
  return steps.every(({ call }) => call.hash === steps[0]?.call.hash);
}

function sameOutput(steps: CallStep[]): boolean {
  return steps.every(({ result }) => result.hash === steps[0]?.result.hash);
}

function callAndOutput({ call, result }: CallStep): string {
  return `${call.hash} ${result.hash}`;
}

function isCycle(values: string[], period: number): boolean {
  return new Set(values).size > 1 && values.every((value, place) => value === values[place % period]);
}
