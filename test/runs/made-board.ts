// A board whose rows go nowhere, and troubles to put on it.

import { defaultConfig } from '../../src/config/schema.ts';
import { Board } from '../../src/findings/board.ts';
import type { Found, FoundTrouble, Sighting } from '../../src/model/agent.ts';
import type { CheckName } from '../../src/model/check.ts';
import { ok } from '../../src/model/result.ts';
import { viewNowMs } from './agent-view.ts';

type Parts = ConstructorParameters<typeof Board>[0];

export const emptyStore: Parts['store'] = {
  openIncidents: async () => ok([]),
  recentScores: async () => ok([]),
  deedsAbout: async () => ok(new Map()),
  saveIncident: async () => ok(undefined),
};

export function madeBoard(given: Partial<Parts> = {}): Board {
  return new Board({
    host: 'h',
    clock: { nowMs: () => viewNowMs, monotonicMs: () => viewNowMs },
    config: defaultConfig,
    record: () => {},
    store: emptyStore,
    failed: (error) => {
      throw error;
    },
    ...given,
  });
}

export function found(check: CheckName, more: Partial<Found> = {}): Found {
  const sinceMs = more.sinceMs ?? viewNowMs;
  const evidence = [{ source: 'transcript' as const, atMs: sinceMs, text: 'so it is' }];
  const usual = { severity: 'warning', confidence: 0.9, evidence, action: null, slots: null } as const;
  return { check, subject: null, sinceMs, ...usual, ...more };
}

/** These agents are seen, each with its troubles, which hold at the first look. */
export function see(board: Board, seen: readonly { view: Sighting; findings: readonly Found[] }[]): void {
  const troubles = seen.flatMap(({ view: { host, agent, project }, findings }) =>
    findings.map((finding): FoundTrouble => ({ host, agent, project, finding })),
  );
  for (const { view } of seen) board.examined(view, { findings: [], coming: [], fine: [] });
  board.post('spawns', troubles);
  board.publish(seen.map(({ view }) => view));
}
