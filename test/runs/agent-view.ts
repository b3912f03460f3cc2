import type { AgentView, Detail, State } from '../../src/model/agent.ts';

export const viewNowMs = Date.parse('2026-11-15T12:00:00Z');

/** An agent in this state for some minutes, and otherwise as nothing as can be. */
export function agentView(
  state: State,
  detail: Detail | null,
  minutes: number,
  more: Partial<AgentView> = {},
): AgentView {
  const sinceMs = viewNowMs - minutes * 60_000;
  return {
    agent: 'a-ps',
    project: 'a',
    client: 'claude-code',
    clientVersion: null,
    host: 'h',
    authority: 'manage',
    cwd: null,
    tmux: null,
    process: { bootId: 'b', pid: 1, startTicks: '1' },
    sessionId: 's',
    transcript: '/t',
    startedAtMs: sinceMs,
    reading: { state, detail, sinceMs, source: 'registry', confidence: 0.95, seenAtMs: viewNowMs, tool: null },
    asks: null,
    model: null,
    context: null,
    contexts: [],
    band: null,
    limits: [],
    sources: [],
    costUsd: null,
    lastActivityMs: sinceMs,
    lastTurn: null,
    lastTurnAtMs: null,
    turnIsOpen: false,
    error: null,
    errorKind: null,
    stopped: null,
    limitedUntilMs: null,
    refused: null,
    endedBadly: null,
    background: [],
    findings: [],
    ...more,
  };
}
