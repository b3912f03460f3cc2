import { expect, it } from 'vitest';
import type { AgentView } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import { Scores } from './scores.ts';

const incident = { id: 'i', agent: 'a-ps', check: 'stalled-turn', subject: null, openedMs: 1_000 } as Incident;
const view = { reading: { state: 'idle' }, lastTurn: 'interrupted', lastTurnAtMs: 2_000 } as unknown as AgentView;

it.each([
  ['a person', false, 'human-interrupted'],
  ["a handoff's own Escape", true, 'other-prompt'],
])('a turn interrupted by %s', (_who, ours, expected) => {
  const scores = new Scores({ promptedBy: () => null, interruptedByUs: () => ours, spawnStatus: () => null });
  scores.told('a-ps', { atMs: 2_000, key: 'k', fact: { kind: 'interrupted' } });
  expect(scores.score(incident, view, 2_000, false).ending).toBe(expected);
});
