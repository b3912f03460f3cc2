import { trendCheck } from '../check.ts';
import { Window } from '../loops/check.ts';
import { percent } from '../thresholds.ts';

const requests = 8;
/** A short context is not worth caching. */
const inputMin = 10_000;

declare module '../../model/check.ts' {
  interface CheckNames {
    'low-cache': true;
  }
}

export const lowCache = trendCheck({
  name: 'low-cache',
  title: 'makes little use of the prompt cache',
  thresholds: {
    'judging.cachePercent': percent(30, 'The least share of the input that should come from the cache.'),
  },
  evidence: 'the token figures of each reply: read from the cache, written to it, new',
  why: 'Nearly all of a request was in the one before it. When the cache is written again and again instead of read, each request costs ten times as much. Requests that cannot be in the cache do not count: the first one, one after a pause or a compaction, one to another model.',
  confidence: 0.9,
  lasts: 'session',
  start(limits) {
    const window = new Window<{ read: number; all: number }>(requests);
    // Clients that report no cache have none to judge.
    let reports = false;
    return (moment) => {
      if (moment.kind === 'fresh' && moment.memory) window.clear();
      if (moment.kind !== 'request') return undefined;
      const { input, cacheRead, cacheCreate, cold } = moment.spent;
      reports ||= cacheRead + cacheCreate > 0;
      if (cold || input < inputMin) return undefined;
      window.add({ read: cacheRead, all: input });
      if (!reports || window.size < requests) return undefined;
      let read = 0;
      let all = 0;
      for (const one of window.items) {
        read += one.read;
        all += one.all;
      }
      const percent = (100 * read) / all;
      return percent < limits()['judging.cachePercent']
        ? `${Math.round(percent)} % of the input of the last ${requests} requests came from the cache`
        : null;
    };
  },
});
