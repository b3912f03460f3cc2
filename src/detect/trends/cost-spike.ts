import { trendCheck } from '../check.ts';
import { Window } from '../loops/check.ts';
import { factor } from '../thresholds.ts';
import { median } from './check.ts';

const recentRequests = 5;
const earlierRequests = 60;
const earlierMin = 20;
/** Dearer than what went before is no matter while it is cheap. */
const unitsMin = 20_000;

declare module '../../model/check.ts' {
  interface CheckNames {
    'cost-spike': true;
  }
}

export const costSpike = trendCheck({
  name: 'cost-spike',
  title: 'costs much more per request than before',
  thresholds: { 'judging.costFactor': factor(4, 'How many times as much as before a request has to cost.') },
  evidence: 'the token figures of each reply, weighted by what they cost',
  why: 'Its requests cost several times what they did before. Medians of requests are compared, not dollars an hour, so neither a burst after a pause nor one cold cache counts.',
  confidence: 0.7,
  lasts: 'session',
  start(limits) {
    const window = new Window<number>(earlierRequests + recentRequests);
    return (moment) => {
      if (moment.kind !== 'request') return undefined;
      window.add(moment.spent.units);
      if (window.size < earlierMin + recentRequests) return undefined;
      const recent = median(window.items, window.size - recentRequests);
      if (recent < unitsMin) return null;
      const earlier = Math.max(1, median(window.items, 0, window.size - recentRequests));
      const times = recent / earlier;
      return times >= limits()['judging.costFactor']
        ? `a request costs ${times.toFixed(1)} times what it did: ${Math.round(recent / 1000)}k tokens, weighted by price`
        : null;
    };
  },
});
