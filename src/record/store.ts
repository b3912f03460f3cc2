import pg from 'pg';
import type { WatchEvent } from '../model/event.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { SpawnRow } from '../model/spawn.ts';
import type { CheckRow, SessionRow, Store, StoreBatch, StoreFailure } from '../model/store.ts';
import { time } from '../model/time.ts';
import { agentRow, upsertAgents } from './agent-row.ts';
import { reasonOf, speakPlainly } from './connection.ts';
import { contextReports, insertPoints, pointRow } from './context.ts';
import { answeredPrompts, deedsAbout, lastRulePrompts } from './deeds.ts';
import {
  beginHandoff,
  endOddHandoff,
  handoffActions,
  handoffText,
  oddHandoffs,
  readHandoffs,
  takeHandoffStep,
} from './handoffs.ts';
import { enterHost, seeHost } from './hosts.ts';
import { loadAuthorities, openIncidents, saveAuthority, saveIncident } from './incidents.ts';
import { conclude, intend, openActions, storeWord } from './ledger.ts';
import { addClockMark, clockMarks, expire, newestRowMs } from './retention.ts';
import { leftOut, type OddRow } from './rows.ts';
import { recentScores, saveScore } from './scores.ts';
import { cut, loadSpawns, spawnRow, updateTrackedSpawns, upsertClientSpawns } from './spawns.ts';
import { loadAgents } from './stored-agents.ts';
import { storeTold } from './told.ts';

const statementMs = 15_000;
/** For a server that is there and says nothing, or a network that swallows everything. */
const answerMs = 20_000;
const statementRowsMax = 2_000;
const handoffsMax = 1_000;

/** `odd`: told of every row that is not as it should be; it is left out. */
export function openStore(url: string, odd: OddRow = leftOut): Store {
  const pool = new pg.Pool({
    connectionString: url,
    max: 3,
    connectionTimeoutMillis: 5_000,
    statement_timeout: statementMs,
    query_timeout: answerMs,
    keepAlive: true,
    application_name: 'watchkeeper',
  });
  // A connection that breaks while idle is replaced by the next query.
  pool.on('error', () => {});
  // Before any other query of that connection; one that breaks here breaks for that one too.
  pool.on('connect', (client) => void speakPlainly(client).catch(() => {}));
  return {
    write: (host, batch) => inTransaction(pool, (client) => writeBatch(client, host, batch)),
    load: (host) => inTransaction(pool, (client) => loadAgents(client, host, odd)),
    expire: (host, rows, beforeMs, rowsMax) =>
      inTransaction(pool, (client) => expire(client, host, rows, beforeMs, rowsMax)),
    clockMarks: (host) => inTransaction(pool, (client) => clockMarks(client, host)),
    addClockMark: (host, mark, keptMs) => inTransaction(pool, (client) => addClockMark(client, host, mark, keptMs)),
    newestRowMs: (host) => inTransaction(pool, (client) => newestRowMs(client, host)),
    enterHost: (host) => inTransaction(pool, (client) => enterHost(client, host)),
    seeHost: (host) => inTransaction(pool, (client) => seeHost(client, host)),
    intend: (action) => inTransaction(pool, (client) => intend(client, action)),
    storeWord: (word) => inTransaction(pool, (client) => storeWord(client, word)),
    conclude: (outcome) => inTransaction(pool, (client) => conclude(client, outcome)),
    openActions: (host) => inTransaction(pool, (client) => openActions(client, host, odd)),
    deedsAbout: (findings) => inTransaction(pool, (client) => deedsAbout(client, findings)),
    lastRulePrompts: (host, afterMs) => inTransaction(pool, (client) => lastRulePrompts(client, host, afterMs)),
    answeredPrompts: (host, nowMs, answerMs) =>
      inTransaction(pool, (client) => answeredPrompts(client, host, nowMs, answerMs)),
    loadSpawns: (host, endedAfterMs, only) =>
      inTransaction(pool, (client) => loadSpawns(client, host, endedAfterMs, only, odd)),
    saveIncident: (incident) => inTransaction(pool, (client) => saveIncident(client, incident)),
    storeTold: (told, anyway) => inTransaction(pool, (client) => storeTold(client, told, anyway)),
    openIncidents: (host) => inTransaction(pool, (client) => openIncidents(client, host, odd)),
    saveScore: (score) => inTransaction(pool, (client) => saveScore(client, score)),
    recentScores: (host, afterMs) => inTransaction(pool, (client) => recentScores(client, host, afterMs, odd)),
    contextReports: (host) => inTransaction(pool, (client) => contextReports(client, host, odd)),
    saveAuthority: (agent, authority) => inTransaction(pool, (client) => saveAuthority(client, agent, authority)),
    loadAuthorities: (host) => inTransaction(pool, (client) => loadAuthorities(client, host, odd)),
    beginHandoff: (handoff) => inTransaction(pool, (client) => beginHandoff(client, handoff)),
    takeHandoffStep: (id, from, taken, change) =>
      inTransaction(pool, (client) => takeHandoffStep(client, id, from, taken, change)),
    loadHandoffs: (host, afterMs) =>
      inTransaction(pool, (client) => readHandoffs(client, host, { agent: null, afterMs, limit: handoffsMax }, odd)),
    oddHandoffs: (host) => inTransaction(pool, (client) => oddHandoffs(client, host, handoffsMax)),
    endOddHandoff: (id, atMs) => inTransaction(pool, (client) => endOddHandoff(client, id, atMs)),
    handoffActions: (id) => inTransaction(pool, (client) => handoffActions(client, id, odd)),
    handoffText: (id) => inTransaction(pool, (client) => handoffText(client, id)),
    close: () => pool.end(),
  };
}

async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<Result<T, StoreFailure>> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    return fail('unavailable', reasonOf(error));
  }
  let broken = false;
  const noteBroken = () => {
    broken = true;
  };
  client.on('error', noteBroken);
  try {
    await client.query('BEGIN');
    const value = await work(client);
    await client.query('COMMIT');
    return ok(value);
  } catch (error) {
    // A server that just kept silent would only keep silent again.
    if (/timeout/.test((error as Error).message)) noteBroken();
    else await client.query('ROLLBACK').catch(noteBroken);
    return fail(isOurFault(error) ? 'refused' : 'unavailable', (error as Error).message);
  } finally {
    client.off('error', noteBroken);
    client.release(broken);
  }
}

/** Data that we or the server would refuse again (class 21, 22, 23) must not be tried for ever; all else passes. */
function isOurFault(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  return /^(21|22|23)/.test((error as { code?: string }).code ?? '');
}

async function writeBatch(client: pg.PoolClient, host: string, batch: StoreBatch): Promise<void> {
  if (batch.agents.length > 0)
    await client.query(upsertAgents, [JSON.stringify(batch.agents.map((view) => agentRow(host, view)))]);
  const rows = await client.query<{ name: string; id: string }>('SELECT name, id FROM agents WHERE host = $1', [host]);
  const ids = new Map(rows.rows.map((row) => [row.name, row.id]));
  await insert(client, insertSessions, batch.sessions, ids, sessionRow);
  await insert(client, insertEvents, batch.events, ids, eventRow);
  const isTracked = (row: SpawnRow) => row.source === 'tracked';
  await insert(
    client,
    upsertClientSpawns,
    batch.spawns.filter((row) => !isTracked(row)),
    ids,
    spawnRow,
  );
  await insert(client, updateTrackedSpawns, batch.spawns.filter(isTracked), ids, spawnRow);
  await insert(client, insertPoints, batch.points, ids, pointRow);
  await insert(client, insertChecks, batch.checks, ids, (row) => ({ ...checkRow(row), host }));
}

/** Rows of an agent that is not on record are dropped; those of no agent are not. */
async function insert<T extends { agent: string | null }>(
  client: pg.PoolClient,
  sql: string,
  items: T[],
  ids: ReadonlyMap<string, string>,
  toRow: (item: T) => object,
): Promise<void> {
  const rows = items.flatMap((item) => {
    const id = item.agent === null ? null : ids.get(item.agent);
    return id === undefined ? [] : [{ agent_id: id, ...toRow(item) }];
  });
  for (let from = 0; from < rows.length; from += statementRowsMax) {
    await client.query(sql, [JSON.stringify(rows.slice(from, from + statementRowsMax))]);
  }
}

const insertSessions = `
  INSERT INTO sessions (agent_id, session_id, transcript, recorded_inode, recorded_offset, model, context_used, started_at, last_activity, ended_at)
  SELECT agent_id, session_id, transcript, recorded_inode, recorded_offset, model, context_used, started_at, last_activity, ended_at
  FROM jsonb_populate_recordset(NULL::sessions, $1::jsonb)
  ON CONFLICT (agent_id, session_id) DO UPDATE SET
    transcript = excluded.transcript, recorded_inode = excluded.recorded_inode, recorded_offset = excluded.recorded_offset,
    model = excluded.model, context_used = excluded.context_used, last_activity = excluded.last_activity, ended_at = excluded.ended_at`;

function sessionRow(row: SessionRow): object {
  return {
    session_id: row.sessionId,
    transcript: row.transcript,
    recorded_inode: row.recorded?.inode ?? null,
    recorded_offset: row.recorded?.offset ?? null,
    model: row.model,
    context_used: row.contextUsed,
    started_at: time(row.startedAtMs),
    last_activity: time(row.lastActivityMs),
    ended_at: time(row.endedAtMs),
  };
}

const insertEvents = `
  INSERT INTO events (id, at, agent_id, session_id, source, kind, data)
  SELECT id, at, agent_id, session_id, source, kind, data FROM jsonb_populate_recordset(NULL::events, $1::jsonb)
  ON CONFLICT (id) DO NOTHING`;

function eventRow(event: WatchEvent): object {
  return {
    id: event.id,
    at: time(event.atMs),
    session_id: event.sessionId,
    source: event.source,
    kind: event.kind,
    data: event.data,
  };
}

/** A batch whose commit was not acknowledged comes again: the same verdict at the same moment is the same row. */
const insertChecks = `
  INSERT INTO health_checks (project, check_time, check_type, status, details, action_taken, agent_id, host)
  SELECT project, check_time, check_type, status, details, action_taken, agent_id, host
  FROM jsonb_populate_recordset(NULL::health_checks, $1::jsonb) new
  WHERE NOT EXISTS (
    SELECT FROM health_checks old WHERE old.check_time = new.check_time AND old.agent_id IS NOT DISTINCT FROM new.agent_id
      AND (old.check_type, old.status, old.details) = (new.check_type, new.status, new.details))`;

function checkRow(row: CheckRow): object {
  return {
    project: cut(row.project, 50),
    check_time: time(row.atMs),
    check_type: cut(row.type, 50),
    status: row.status,
    details: row.details,
    action_taken: row.taken ?? null,
  };
}
