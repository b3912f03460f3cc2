import { trendCheck } from '../check.ts';
import { Window } from '../loops/check.ts';
import { factor } from '../thresholds.ts';
import { median } from './check.ts';

const recentChanges = 3;
const earlierMin = 8;
/** Tokens for one change that are no matter. */
const effortMin = 15_000;
/** Two edits in one breath are no measure. */
const floor = 1_000;

declare module '../../model/check.ts' {
  interface CheckNames {
    'low-efficiency': true;
  }
}

export const lowEfficiency = trendCheck({
  name: 'low-efficiency',
  title: 'needs more and more tokens for a change',
  thresholds: {
    'judging.efficiencyFactor': factor(4, 'How many times as many tokens as before a change has to take.'),
  },
  evidence: 'tokens newly read or written between two changes that worked, within a turn',
  why: 'Three changes in a row took several times the tokens that are usual in the run. Only new tokens count, because what is sent again with every request grows by itself. The first change after a prompt does not count, because the agent reads a lot before it.',
  confidence: 0.6,
  lasts: 'session',
  start(limits) {
    const efforts = new Window<number>(32);
    let since: number | null = null;
    return (moment) => {
      if (moment.kind === 'fresh') since = null;
      if (moment.kind === 'request' && since !== null) since += moment.spent.effort;
      if (moment.kind !== 'step' || !moment.brought.progress) return undefined;
      const effort = since;
      since = 0;
      if (effort === null || effort === 0) return undefined;
      efforts.add(effort);
      if (efforts.size < earlierMin + recentChanges) return undefined;
      const recent = median(efforts.items, efforts.size - recentChanges);
      const times = recent / Math.max(floor, median(efforts.items, 0, efforts.size - recentChanges));
      return recent >= effortMin && times >= limits()['judging.efficiencyFactor']
        ? `a change takes ${times.toFixed(1)} times the tokens it took before: ${Math.round(recent / 1000)}k`
        : null;
    };
  },
});
