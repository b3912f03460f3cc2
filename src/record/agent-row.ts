import { z } from 'zod';
import type { Sighting } from '../model/agent.ts';
import { percentOf } from '../model/percent.ts';
import {
  bigCount,
  contextSource,
  count,
  detail,
  digits,
  exact,
  json,
  matching,
  moment,
  type OddRow,
  sessionId,
  sound,
  source,
  state,
  texts,
  words,
} from './rows.ts';

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

export function agentRow(host: string, view: Sighting): object {
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

const agentTexts = [
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
  'start_ticks',
  'session_id',
  'state',
  'detail',
  'source',
  'tool',
  'model',
  'context_source',
  'last_turn',
  'error',
] as const;
const others = agentColumns.filter((column) => column !== 'background' && !agentTexts.some((text) => text === column));

export const selectAgents = `SELECT a.id, ${others.map((column) => `a.${column}`).join(', ')}, ${texts('a', ...agentTexts)},
  ${json('a', 'background')} FROM agents a`;

const work = z.object({
  kind: z.enum(['subagent', 'shell']),
  id: exact(200),
  sinceMs: z.number().min(0).max(Date.UTC(10_000, 0)),
  tool: words(500).nullable(),
});

const agentShape = z.object({
  id: digits,
  name: exact(),
  project: words(200),
  client: z.string().regex(/^[a-z][a-z0-9-]{0,40}$/),
  client_version: words(500).nullable(),
  host: z.string(),
  authority: z.enum(['observe', 'nudge', 'manage']).catch('observe'),
  cwd: words(4_096).nullable(),
  // A place on record is one that was shown: where it is odd, it is none.
  tmux_socket: exact(4_096).nullable().catch(null),
  tmux_session: exact().nullable().catch(null),
  tmux_pane: matching(/^%\d{1,10}$/)
    .nullable()
    .catch(null),
  boot_id: exact(100),
  pid: count,
  start_ticks: digits,
  started_at: moment,
  session_id: sessionId.nullable(),
  // A word that nobody knows says nothing.
  state: state.catch('unknown'),
  detail: detail.nullable().catch(null),
  state_since: moment,
  source,
  confidence: z.number().min(0).max(1),
  tool: words().nullable(),
  model: words(500).nullable(),
  context_used: bigCount.nullable(),
  context_window: bigCount.nullable(),
  context_usable: bigCount.nullable(),
  context_source: contextSource.nullable(),
  context_at: moment.nullable(),
  context_band: count.max(100).nullable(),
  context_band_since: moment.nullable(),
  cost_usd: z.number().min(0).nullable().catch(null),
  last_activity: moment.nullable(),
  last_turn: z.enum(['ok', 'failed', 'interrupted']).nullable(),
  last_turn_at: moment.nullable(),
  error: words().nullable(),
  background: z.array(work).max(10_000).catch([]),
  last_seen: moment,
});

type AgentRecord = z.infer<typeof agentShape>;

export function storedRows(rows: readonly unknown[], odd: OddRow): AgentRecord[] {
  return sound('agents', agentShape, rows, odd);
}

export function storedView(row: AgentRecord): Sighting {
  const context =
    row.context_used === null || row.context_at === null
      ? null
      : {
          used: row.context_used,
          window: row.context_window ?? 0,
          usable: row.context_usable ?? 0,
          percent: percentOf(row.context_used, row.context_window ?? 0),
          source: row.context_source ?? 'transcript',
          atMs: row.context_at,
        };
  return {
    agent: row.name,
    project: row.project,
    client: row.client,
    clientVersion: row.client_version,
    host: row.host,
    authority: row.authority,
    cwd: row.cwd,
    tmux:
      row.tmux_socket === null || row.tmux_session === null || row.tmux_pane === null
        ? null
        : { socket: row.tmux_socket, session: row.tmux_session, pane: row.tmux_pane },
    process: { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks },
    sessionId: row.session_id,
    transcript: null,
    startedAtMs: row.started_at,
    reading: {
      state: row.state,
      detail: row.detail,
      sinceMs: row.state_since,
      source: row.source,
      confidence: row.confidence,
      seenAtMs: row.last_seen,
      tool: row.tool,
    },
    model: row.model,
    context,
    contexts: [],
    band:
      row.context_band === null || row.context_band_since === null
        ? null
        : { index: row.context_band, sinceMs: row.context_band_since },
    limits: [],
    sources: [],
    costUsd: row.cost_usd,
    lastActivityMs: row.last_activity,
    lastTurn: row.last_turn,
    lastTurnAtMs: row.last_turn_at,
    turnIsOpen: false,
    error: row.error,
    errorKind: null,
    stopped:
      row.last_turn === 'failed' && row.last_turn_at !== null
        ? { sinceMs: row.last_turn_at, error: row.error, errorKind: null }
        : null,
    limitedUntilMs: null,
    refused: null,
    endedBadly: null,
    background: row.background,
  };
}

export function time(ms: number): string;
export function time(ms: number | null): string | null;
export function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
