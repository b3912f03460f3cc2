import { appendFileSync } from 'node:fs';
import type { SignalResult } from '../conformance-results.ts';
import type { Heard } from './truth.ts';

export function judgeSignals(everything: Heard[], screenOnly: Heard[]): SignalResult[] {
  const f = process.env.WK_DUMP;
  if (f)
    for (const [n, hs] of [
      ['all', everything],
      ['bare', screenOnly],
    ] as const)
      for (const h of hs)
        appendFileSync(f, `${n} ${h.source.padEnd(10)} ${h.step.padEnd(18)} ${JSON.stringify([...h.words])}\n`);
  return [];
}
