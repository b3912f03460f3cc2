import { expect, it } from 'vitest';
import type { RunEvent } from '../model/run-event.ts';
import type { ResultSign } from '../model/session-event.ts';
import { SteadyTimes } from './steady-times.ts';

const hourMs = 3_600_000;
const nowMs = Date.parse('2026-11-16T00:00:00Z');
const counts = { lines: 0, events: 0, malformed: 0, unstructured: 0, oversized: 0 };

it('the hash of an output that has to wait is asked for while its file is open', () => {
  const taken: (string | undefined)[] = [];
  let isOpen = true;
  const resultAt = (index: number, atMs: number): RunEvent => {
    let hash: string | null = null;
    const sign = {
      get hash() {
        hash ??= isOpen ? 'whole' : 'lost';
        return hash;
      },
    } as ResultSign;
    const fact = { kind: 'tool-result', id: `${index}`, isError: false, started: null, sign } as const;
    return { index, atMs, key: `${index}`, side: false, fact };
  };
  const times = new SteadyTimes(nowMs, ({ fact }) => taken.push(fact.kind === 'tool-result' ? fact.sign?.hash : ''));
  times.take(resultAt(0, nowMs - 9 * hourMs), counts);
  times.take(resultAt(1, nowMs - 9 * hourMs + 1_000), counts);
  times.take(resultAt(2, nowMs - 2 * hourMs), counts);
  expect(taken).toHaveLength(2);
  isOpen = false;
  times.end();
  expect(taken).toEqual(['whole', 'whole', 'whole']);
});
