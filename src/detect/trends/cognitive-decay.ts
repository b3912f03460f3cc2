import { trendCheck } from '../check.ts';
import { Window } from '../loops/check.ts';
import { tokens } from '../thresholds.ts';
import { counts } from './check.ts';

const recentSteps = 20;
const earlyMin = 20;
const signsMin = 2;
/** A sign is worse when it is twice as frequent and by that much of all steps. */
const worse = { times: 2, by: 0.15 };

const signs = { failed: 'failures', nothing: 'steps that bring nothing', again: 'repeats' } as const;
type Sign = keyof typeof signs;
const names = Object.keys(signs) as Sign[];

declare module '../../model/check.ts' {
  interface CheckNames {
    'cognitive-decay': true;
  }
}

export const cognitiveDecay = trendCheck({
  name: 'cognitive-decay',
  title: 'does worse in a long context',
  thresholds: {
    'judging.decayTokens': tokens(80_000, 'From how many tokens on a context counts as long.'),
  },
  evidence: 'the size of the context, and failures, repeats and results that bring nothing, early and late in it',
  why: 'A long context alone is no trouble. The same run has to do worse in it than while the context was short, by at least two signs at once. A compaction starts the count over.',
  confidence: 0.6,
  lasts: 'session',
  start(limits) {
    const late = new Window<Record<Sign, boolean>>(recentSteps);
    const early = { steps: 0, failed: 0, nothing: 0, again: 0 };
    let context = 0;
    return (moment) => {
      if (moment.kind === 'request') context = moment.spent.input;
      if (moment.kind === 'fresh' && moment.memory) {
        late.clear();
        context = 0;
      }
      if (moment.kind !== 'step' || !counts(moment.step)) return undefined;
      const { failed } = moment.step;
      const again = moment.brought.again && !failed;
      // Each step is a sign of one thing only: what fails brings nothing by that.
      const step = { failed, again, nothing: moment.brought.nothing && !failed && !again };
      if (context < limits()['judging.decayTokens'] / 2) {
        early.steps += 1;
        for (const name of names) if (step[name]) early[name] += 1;
      }
      if (context < limits()['judging.decayTokens']) return undefined;
      late.add(step);
      if (late.size < recentSteps || early.steps < earlyMin) return undefined;
      const now = { failed: 0, nothing: 0, again: 0 };
      for (const one of late.items) for (const name of names) if (one[name]) now[name] += 1;
      const worsened = names.filter((name) => {
        const before = early[name] / early.steps;
        const share = now[name] / recentSteps;
        return share >= before * worse.times && share >= before + worse.by;
      });
      return worsened.length >= signsMin
        ? `with ${Math.round(context / 1000)}k tokens of context more ${worsened.map((name) => signs[name]).join(' and ')} than with few`
        : null;
    };
  },
});
