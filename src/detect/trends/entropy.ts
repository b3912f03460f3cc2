import { trendCheck } from '../check.ts';
import { Window } from '../loops/check.ts';
import type { CallStep } from '../loops/steps.ts';
import { percent } from '../thresholds.ts';
import { counts } from './check.ts';

const windowSteps = 12;
const recentLooks = 6;
const earlierLooks = 40;
const earlierMin = 20;
/** How surely a recent look is less varied than one of before: the Mann–Whitney statistic as a share. */
const surely = 0.9;

declare module '../../model/check.ts' {
  interface CheckNames {
    entropy: true;
  }
}

export const entropy = trendCheck({
  name: 'entropy',
  title: 'does the same few things more and more',
  thresholds: {
    'judging.entropyPercent': percent(50, 'Below how much of the possible variety the actions have to fall.'),
  },
  evidence: 'which calls are made, by tool and target; no two changes count as the same',
  why: 'Before a run goes in circles the variety of its actions falls far below what the same run showed before. A rank test compares the two, so nothing is assumed about how varied a run should be. It is a warning, not yet a loop.',
  confidence: 0.5,
  lasts: 'turn',
  start(limits) {
    const actions = new Window<string>(windowSteps);
    const recent = new Window<number>(recentLooks);
    const earlier = new Window<number>(earlierLooks);
    return (moment) => {
      if (moment.kind === 'fresh') {
        actions.clear();
        for (const variety of recent.items) earlier.add(variety);
        recent.clear();
      }
      if (moment.kind !== 'step' || !counts(moment.step)) return undefined;
      actions.add(actionOf(moment.step));
      if (actions.size < windowSteps) return undefined;
      const [oldest] = recent.items;
      if (recent.size === recentLooks && oldest !== undefined) earlier.add(oldest);
      recent.add(varietyOf(actions.items));
      if (recent.size < recentLooks || earlier.size < earlierMin) return undefined;
      const left = 100 * mean(recent.items);
      if (left > limits()['judging.entropyPercent'] || lessVaried(recent.items, earlier.items) < surely) return null;
      return `its actions have ${Math.round(left)} % of the variety they could have, before ${Math.round(100 * mean(earlier.items))} %`;
    };
  },
});

/** Another part of the same file is the same look; of anything else the whole call counts, for scripts begin alike. */
function actionOf({ tool, call }: CallStep): string {
  return call.act === 'look' ? `${tool} ${call.target}` : call.hash;
}

/** Shannon entropy against the most there could be, 0 to 1. */
function varietyOf(actions: readonly string[]): number {
  let bits = 0;
  // So few that looking for each among the others is faster than a map of them; each one of a kind adds its share.
  for (const action of actions) {
    let count = 0;
    for (const other of actions) if (other === action) count += 1;
    bits -= Math.log2(count / actions.length) / actions.length;
  }
  return bits / Math.log2(actions.length);
}

/** The share of pairs in which the recent value is the lower one; a tie is half. */
function lessVaried(recent: readonly number[], earlier: readonly number[]): number {
  let wins = 0;
  for (const now of recent) for (const then of earlier) wins += now < then ? 1 : now === then ? 0.5 : 0;
  return wins / (recent.length * earlier.length);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
