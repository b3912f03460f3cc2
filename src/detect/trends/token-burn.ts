import { trendCheck } from '../check.ts';
import { Window } from '../loops/check.ts';
import { tokens } from '../thresholds.ts';
import { counts } from './check.ts';

const windowSteps = 20;
const stepsMin = 6;
const shareMin = 0.7;

declare module '../../model/check.ts' {
  interface CheckNames {
    'token-burn': true;
  }
}

export const tokenBurn = trendCheck({
  name: 'token-burn',
  title: 'spends many tokens and learns nothing new',
  thresholds: {
    'judging.burnTokens': tokens(
      150_000,
      'Tokens, weighted by price, that may go into results that bring nothing new.',
    ),
  },
  evidence: 'the token figures of each reply, and what the results of its calls brought',
  why: 'Most of the cost since the last change or prompt was for results that brought nothing new. The same steps in a short context cost little and do not count.',
  confidence: 0.7,
  lasts: 'turn',
  start(limits) {
    const window = new Window<{ units: number; nothing: boolean }>(windowSteps);
    let units = 0;
    return (moment) => {
      if (moment.kind === 'request') units += moment.spent.units;
      if (moment.kind === 'fresh') {
        window.clear();
        units = 0;
      }
      if (moment.kind !== 'step' || !counts(moment.step)) return undefined;
      const { progress, nothing } = moment.brought;
      if (progress) window.clear();
      window.add({ units, nothing });
      units = 0;
      let all = 0;
      let burnt = 0;
      let wasted = 0;
      for (const one of window.items) {
        all += one.units;
        if (!one.nothing) continue;
        burnt += one.units;
        wasted += 1;
      }
      return wasted >= stepsMin && burnt >= limits()['judging.burnTokens'] && burnt >= shareMin * all
        ? `${Math.round(burnt / 1000)}k tokens, weighted by price, for ${wasted} steps that brought nothing new`
        : null;
    };
  },
});
