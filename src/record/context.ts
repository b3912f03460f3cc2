import type { AgentView } from '../model/agent.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { ContextPoint } from '../model/store.ts';
import { type AgentRecord, past, selectAgents, storedView, time } from './agent-row.ts';
import { type QueryFailure, withClient } from './queries.ts';

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

interface PointRecord {
  session_id: string;
  at: Date;
  used: string;
  window_size: string;
  usable: string;
  source: ContextPoint['source'];
  turn_at: Date | null;
  compacted: string | null;
  used_before: string | null;
}

export interface ContextHistory {
  view: AgentView;
  /** Of its present session, oldest first. */
  points: ContextPoint[];
  /** The last time the client compacted by itself, in any session on the same window. */
  ownCompaction: ContextPoint | null;
}

/** An agent as it is on record, and the newest figures of its session. */
export function readContext(
  url: string,
  host: string,
  agent: string,
  limit: number,
): Promise<Result<ContextHistory, QueryFailure>> {
  return withClient(url, async (client) => {
    const agents = await client.query<AgentRecord>(`${selectAgents} WHERE a.host = $1 AND a.name = $2`, [host, agent]);
    const row = agents.rows[0];
    if (row === undefined) return fail('no-agent', `no agent \`${agent}\``);
    const points = await client.query<PointRecord>(
      'SELECT * FROM context_points WHERE agent_id = $1 AND session_id = $2 ORDER BY at DESC LIMIT $3',
      [row.id, row.session_id, limit],
    );
    const own = await client.query<PointRecord>(
      `SELECT * FROM context_points WHERE agent_id = $1 AND compacted = 'auto' AND window_size = $2 ORDER BY at DESC LIMIT 1`,
      [row.id, row.context_window],
    );
    const toPoint = (record: PointRecord) => storedPoint(agent, record);
    return ok({
      view: storedView(row),
      points: points.rows.reverse().map(toPoint),
      ownCompaction: own.rows.map(toPoint)[0] ?? null,
    });
  });
}

function storedPoint(agent: string, row: PointRecord): ContextPoint {
  return {
    agent,
    sessionId: row.session_id,
    atMs: past(row.at),
    used: Number(row.used),
    window: Number(row.window_size),
    usable: Number(row.usable),
    source: row.source,
    turnAtMs: past(row.turn_at),
    compacted: row.compacted,
    usedBefore: row.used_before === null ? null : Number(row.used_before),
  };
}
