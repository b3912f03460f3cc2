import type { Sighting, SourceSign, StateReading } from '../model/agent.ts';
import { keepNotAfter } from '../model/not-after.ts';

/** Nothing of it is later than now; how long a stay in a band lasts stays as it is. */
export function setBack(view: Sighting, byMs: number, nowMs: number): Sighting {
  const { band } = view;
  const back = structuredClone({ ...view, band: band === null ? null : { ...band, sinceMs: band.sinceMs - byMs } });
  keepNotAfter(back, nowMs);
  return back;
}

/** When a sighting's files were found to say what they said. */
export interface SameAt {
  registryMs: number;
  transcriptMs: number;
}

/** The same, with the age that it has by now. */
export function seenAgain(view: Sighting, { registryMs, transcriptMs }: SameAt): Sighting {
  const at = { registry: registryMs, transcript: transcriptMs } as Partial<Record<SourceSign['source'], number>>;
  const sources = view.sources.map((sign) => {
    const atMs = at[sign.source] ?? 0;
    const { source, health, reason } = sign;
    if (sign.atMs === null || sign.atMs >= atMs) return sign;
    return {
      ...{ source, health, reason, atMs },
      // Not judged before somebody asks.
      get alone() {
        return sign.alone;
      },
    };
  });
  return { ...view, sources, reading: { ...view.reading, seenAtMs: registryMs } };
}

export function isSameState(a: StateReading, b: StateReading): boolean {
  return a.state === b.state && a.detail === b.detail && a.tool === b.tool;
}

/** Everything of a view but what moves by itself with time. */
export function fingerprint(view: Sighting): string {
  const sources = view.sources.map(({ source, health }) => ({ source, health }));
  return JSON.stringify({ ...view, sources, contexts: [], reading: { ...view.reading, seenAtMs: 0 } });
}
