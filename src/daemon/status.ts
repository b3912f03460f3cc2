import type { HoldDocument } from '../actions/holds.ts';
import { healthStatus } from '../detect/health.ts';
import type { AgentView, ContextReading, Finding } from '../model/agent.ts';
import type { WatchEvent } from '../model/event.ts';
import type { HandoffStep } from '../model/handoff.ts';
import { time } from '../model/time.ts';
import type { SpawnDocument } from '../spawns/spawn-rows.ts';

/** The JSON shapes others script against (`status`, `health`). */

export interface StatusDocument {
  v: 1;
  daemon: {
    pid: number;
    since: string;
    paused: boolean;
    mode: string;
    /** `up --watch-only`: nothing is done in this run, whatever the configuration says. */
    watch_only: boolean;
    /** Until when rules do nothing, for it has only just started; null: they may. */
    quiet_until: string | null;
    /** Configuration files that were there and are not: what they said stays; after a restart nothing is done. */
    config_missing: string[];
    tick_ms: number;
    /** Edges of the bands of context, in percent. */
    bands: readonly number[];
    /** Of the last day, by the ledger: how many there were, and how many the agents took up within `answerSeconds`. */
    prompts: { given: number; in_time: number } | null;
  };
  agents: AgentDocument[];
  /** Who waits for a person, an agent or the host, by the name that messages call it by; the longest wait first. */
  needs_you: string[];
  /** What is wrong with the host as a whole, or with work that has no agent. */
  findings: FindingDocument[];
}

type FindingDocument = ReturnType<typeof findingDocument>;

export interface AgentDocument extends ReturnType<typeof agentDocument> {
  /** The step of the handoff that runs; null: none does. */
  handoff: HandoffStep | null;
  /** Which daemon looks after it. */
  hold: HoldDocument;
  /** A person has to see to it. */
  needs_you: boolean;
  /** What is done next about its troubles, in a few words. */
  next: { check: string; subject: string | null; at: string | null; what: string }[];
  /** The command by which a person goes on with the session of one that ended. */
  resume: string | null;
  /** It asks before it writes and no hook can answer: a handoff would stand until a person does. */
  handoff_waits: boolean;
}
export type HealthDocument = ReturnType<typeof healthDocument>;

export function agentDocument(view: AgentView, host: string, spawns: SpawnDocument[], nowMs: number) {
  const { reading, context } = view;
  return {
    agent: view.agent,
    project: view.project,
    client: view.client,
    client_version: view.clientVersion,
    host,
    authority: view.authority,
    cwd: view.cwd,
    tmux: view.tmux,
    pid: view.process.pid,
    session_id: view.sessionId,
    state: reading.state,
    detail: reading.detail,
    since: time(reading.sinceMs),
    source: reading.source,
    confidence: reading.confidence,
    stale_s: Math.max(0, Math.round((nowMs - reading.seenAtMs) / 100) / 10),
    tool: reading.tool,
    asks: view.asks,
    model: view.model,
    context: contextFigures(context),
    context_sources: view.contexts.map((sign) => ({
      source: sign.source,
      percent: sign.percent,
      scale: sign.scale,
      used: sign.used,
      at: time(sign.atMs),
      age_s: Math.max(0, Math.round((nowMs - sign.atMs) / 100) / 10),
    })),
    limits: view.limits.map(({ name, percent, resetsAtMs }) => ({ name, percent, resets_at: time(resetsAtMs) })),
    sources: view.sources.map(({ source, health, reason, atMs, alone }) => ({
      source,
      health,
      reason,
      at: time(atMs),
      alone,
    })),
    cost_usd: view.costUsd,
    last_activity: time(view.lastActivityMs),
    last_turn: view.lastTurn,
    last_turn_at: time(view.lastTurnAtMs),
    error: view.error,
    error_kind: view.errorKind,
    ended_badly: view.endedBadly,
    background: view.background.map((work) => ({
      kind: work.kind,
      id: work.id,
      since: time(work.sinceMs),
      tool: work.tool,
    })),
    spawns,
    health: healthStatus(view),
    findings: view.findings.map(findingDocument),
  };
}

export function contextFigures(context: ContextReading | null) {
  if (context === null) return null;
  const { used, window, usable, percent, source, atMs } = context;
  return { used, window, usable, percent, source, at: time(atMs) };
}

export function healthDocument(agent: AgentDocument) {
  return {
    agent: agent.agent,
    host: agent.host,
    status: agent.health,
    state: agent.state,
    detail: agent.detail,
    last_output: agent.last_activity,
    errors: agent.error === null ? [] : [agent.error],
    findings: agent.findings,
  };
}

/**
 * Who is well and who is not, for everybody who asks: all that live, and those that ended with a trouble that is still open.
 * Whoever was closed in peace is history.
 */
export function healthReport({ agents, findings }: StatusDocument): HealthReport {
  const told = agents.filter((agent) => agent.state !== 'ended' || agent.health !== 'healthy');
  const items = told.map(healthDocument);
  return { items, unhealthy: items.filter((item) => item.status !== 'healthy'), findings };
}

interface HealthReport {
  items: HealthDocument[];
  unhealthy: HealthDocument[];
  /** Of the host, and of work that has no agent. */
  findings: FindingDocument[];
}

export function findingDocument(finding: Finding) {
  return {
    id: finding.id,
    check: finding.check,
    subject: finding.subject,
    severity: finding.severity,
    confidence: finding.confidence,
    since: time(finding.sinceMs),
    standing: finding.standing,
    prompts: finding.prompts,
    told: finding.tells,
    acked: time(finding.ackedMs),
    evidence: finding.evidence.map(({ source, atMs, text }) => ({ source, at: time(atMs), text })),
    action: finding.action,
  };
}

/** A line of `events`. */
export function eventDocument(event: WatchEvent, host: string) {
  return {
    v: 1,
    at: time(event.atMs),
    agent: event.agent,
    host,
    source: event.source,
    kind: event.kind,
    data: event.data,
  };
}
