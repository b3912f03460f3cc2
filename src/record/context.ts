import { z } from 'zod';
import type { Sighting } from '../model/agent.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { ContextPoint } from '../model/store.ts';
import { selectAgents, storedRows, storedView, time } from './agent-row.ts';
import { findAgent, hostName } from './known-agent.ts';
import { type QueryFailure, withClient } from './queries.ts';
import { bigCount, contextSource, leftOut, moment, sessionId, sound, texts, words } from './rows.ts';

/** The context of a session from figure to figure. */

export const insertPoints = `
  INSERT INTO context_points (agent_id, session_id, at, used, window_size, usable, source, turn_at, compacted, used_before)
  SELECT agent_id, session_id, at, used, window_size, usable, source, turn_at, compacted, used_before
  FROM jsonb_populate_recordset(NULL::context_points, $1::jsonb)
  ON CONFLICT DO NOTHING`;

export function pointRow(point: ContextPoint): object {
  return {
    session_id: point.sessionId,
    at: time(point.atMs),
    used: Math.round(point.used),
    window_size: Math.round(point.window),
    usable: Math.round(point.usable),
    source: point.source,
    turn_at: time(point.turnAtMs),
    compacted: point.compacted,
    used_before: point.usedBefore === null ? null : Math.round(point.usedBefore),
  };
}

const pointShape = z.object({
  session_id: sessionId,
  at: moment,
  used: bigCount,
  window_size: bigCount,
  usable: bigCount,
  source: contextSource,
  turn_at: moment.nullable(),
  compacted: words(100).nullable(),
  used_before: bigCount.nullable(),
});

const selectPoints = `SELECT p.at, p.used, p.window_size, p.usable, p.turn_at, p.used_before,
  ${texts('p', 'session_id', 'source', 'compacted')} FROM context_points p`;

export interface ContextHistory {
  /** As people call it. */
  host: string;
  view: Sighting;
  /** Of its present session, oldest first. */
  points: ContextPoint[];
  /** The last time the client compacted by itself, in any session on the same window. */
  ownCompaction: ContextPoint | null;
}

/** An agent as it is on record, and the newest figures of its session. */
export function readContext(
  url: string,
  ownHost: string,
  agent: string,
  limit: number,
): Promise<Result<ContextHistory, QueryFailure>> {
  return withClient(url, async (client) => {
    const of = await findAgent(client, ownHost, agent);
    if (!of.ok) return of;
    const { host, agent: name } = of.value;
    const agents = await client.query(`${selectAgents} WHERE a.host = $1 AND a.name = $2`, [host, name]);
    const [row] = storedRows(agents.rows, leftOut);
    if (row === undefined) return fail('no-agent', `no agent \`${agent}\``);
    const points = await client.query(
      `${selectPoints} WHERE p.agent_id = $1 AND p.session_id = $2 ORDER BY p.at DESC LIMIT $3`,
      [row.id, row.session_id, limit],
    );
    const own = await client.query(
      `${selectPoints} WHERE p.agent_id = $1 AND p.compacted = 'auto' AND p.window_size = $2 ORDER BY p.at DESC LIMIT 1`,
      [row.id, row.context_window],
    );
    return ok({
      view: storedView(row),
      host: await hostName(client, host),
      points: storedPoints(name, points.rows.reverse()),
      ownCompaction: storedPoints(name, own.rows)[0] ?? null,
    });
  });
}

function storedPoints(agent: string, rows: readonly unknown[]): ContextPoint[] {
  return sound('context_points', pointShape, rows, leftOut, ({ at }) => at).map((row) => ({
    agent,
    sessionId: row.session_id,
    atMs: row.at,
    used: row.used,
    window: row.window_size,
    usable: row.usable,
    source: row.source,
    turnAtMs: row.turn_at,
    compacted: row.compacted,
    usedBefore: row.used_before,
  }));
}
