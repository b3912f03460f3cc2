import type {
  AgentView,
  Authority,
  BackgroundWork,
  ClientName,
  Detail,
  Source,
  State,
  TurnEnd,
} from '../model/agent.ts';
import { notAfter } from '../model/not-after.ts';
import { percentOf } from '../model/percent.ts';

/** An agent as its row in the store, there and back. */

const agentColumns = [
  'host',
  'name',
  'project',
  'client',
  'client_version',
  'authority',
  'cwd',
  'tmux_socket',
  'tmux_session',
  'tmux_pane',
  'boot_id',
  'pid',
  'start_ticks',
  'started_at',
  'session_id',
  'state',
  'detail',
  'state_since',
  'source',
  'confidence',
  'tool',
  'model',
  'context_used',
  'context_window',
  'context_usable',
  'context_source',
  'context_at',
  'context_band',
  'context_band_since',
  'cost_usd',
  'last_activity',
  'last_turn',
  'last_turn_at',
  'error',
  'background',
  'last_seen',
];
export const upsertAgents = `
  INSERT INTO agents (${agentColumns.join(', ')})
  SELECT ${agentColumns.join(', ')} FROM jsonb_populate_recordset(NULL::agents, $1::jsonb)
  ON CONFLICT (host, name) DO UPDATE SET ${agentColumns
    .filter((column) => column !== 'host' && column !== 'name')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`;

export function agentRow(host: string, view: AgentView): object {
  return {
    host,
    name: view.agent,
    project: view.project,
    client: view.client,
    client_version: view.clientVersion,
    authority: view.authority,
    cwd: view.cwd,
    tmux_socket: view.tmux?.socket ?? null,
    tmux_session: view.tmux?.session ?? null,
    tmux_pane: view.tmux?.pane ?? null,
    boot_id: view.process.bootId,
    pid: view.process.pid,
    start_ticks: view.process.startTicks,
    started_at: time(view.startedAtMs),
    session_id: view.sessionId,
    state: view.reading.state,
    detail: view.reading.detail,
    state_since: time(view.reading.sinceMs),
    source: view.reading.source,
    confidence: view.reading.confidence,
    tool: view.reading.tool,
    model: view.model,
    context_used: view.context?.used ?? null,
    context_window: view.context?.window ?? null,
    context_usable: view.context?.usable ?? null,
    context_source: view.context?.source ?? null,
    context_at: time(view.context?.atMs ?? null),
    context_band: view.band?.index ?? null,
    context_band_since: time(view.band?.sinceMs ?? null),
    cost_usd: view.costUsd,
    last_activity: time(view.lastActivityMs),
    last_turn: view.lastTurn,
    last_turn_at: time(view.lastTurnAtMs),
    error: view.error,
    background: view.background,
    last_seen: time(view.reading.seenAtMs),
  };
}

/** With what people call the host. */
export const selectAgents = 'SELECT a.*, h.name AS host_name FROM agents a LEFT JOIN hosts h ON h.id = a.host';

export interface AgentRecord {
  id: string;
  name: string;
  project: string;
  client: ClientName;
  client_version: string | null;
  host: string;
  host_name: string | null;
  authority: Authority;
  cwd: string | null;
  tmux_socket: string | null;
  tmux_session: string | null;
  tmux_pane: string | null;
  boot_id: string;
  pid: number;
  start_ticks: string;
  started_at: Date;
  session_id: string | null;
  state: State;
  detail: Detail | null;
  state_since: Date;
  source: Source;
  confidence: number;
  tool: string | null;
  model: string | null;
  context_used: string | null;
  context_window: string | null;
  context_usable: string | null;
  context_source: Source | null;
  context_at: Date | null;
  context_band: number | null;
  context_band_since: Date | null;
  cost_usd: number | null;
  last_activity: Date | null;
  last_turn: TurnEnd | null;
  last_turn_at: Date | null;
  error: string | null;
  background: BackgroundWork[];
  last_seen: Date;
}

export function storedView(row: AgentRecord): AgentView {
  const context =
    row.context_used === null || row.context_at === null
      ? null
      : {
          used: Number(row.context_used),
          window: Number(row.context_window),
          usable: Number(row.context_usable),
          percent: percentOf(Number(row.context_used), Number(row.context_window)),
          source: row.context_source ?? 'transcript',
          atMs: past(row.context_at),
        };
  return {
    agent: row.name,
    project: row.project,
    client: row.client,
    clientVersion: row.client_version,
    host: row.host_name ?? row.host,
    authority: row.authority,
    cwd: row.cwd,
    tmux:
      row.tmux_socket === null || row.tmux_session === null || row.tmux_pane === null
        ? null
        : { socket: row.tmux_socket, session: row.tmux_session, pane: row.tmux_pane },
    process: { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks },
    sessionId: row.session_id,
    transcript: null,
    startedAtMs: past(row.started_at),
    reading: {
      state: row.state,
      detail: row.detail,
      sinceMs: past(row.state_since),
      source: row.source,
      confidence: row.confidence,
      seenAtMs: past(row.last_seen),
      tool: row.tool,
    },
    model: row.model,
    context,
    contexts: [],
    band:
      row.context_band === null || row.context_band_since === null
        ? null
        : { index: row.context_band, sinceMs: past(row.context_band_since) },
    limits: [],
    sources: [],
    costUsd: row.cost_usd,
    lastActivityMs: past(row.last_activity),
    lastTurn: row.last_turn,
    lastTurnAtMs: past(row.last_turn_at),
    turnIsOpen: false,
    error: row.error,
    errorKind: null,
    refused: null,
    endedBadly: null,
    background: row.background,
    findings: [],
  };
}

export function time(ms: number): string;
export function time(ms: number | null): string | null;
export function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

const startedMs = Date.now();

/**
 * A time that was stored by a clock that was ahead counts as now, or rather as when this process began: what an agent's record says
 * of the time before it was read counts as of a little later, and stays after what was done to it.
 */
export function past(time: Date): number;
export function past(time: Date | null): number | null;
export function past(time: Date | null): number | null {
  if (time === null || time.getTime() <= Date.now()) return time?.getTime() ?? null;
  return notAfter(startedMs, Date.now());
}
