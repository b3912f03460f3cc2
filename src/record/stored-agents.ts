import path from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import { clients } from '../clients/clients.ts';
import type { StoredAgent } from '../model/store.ts';
import { untrusted } from '../model/text.ts';
import { selectAgents, storedRows, storedView } from './agent-row.ts';
import { bigCount, digits, exact, json, moment, type OddRow, place, sessionId, sound, texts, words } from './rows.ts';

// What an earlier run left behind of the agents: their rows, how far their sessions are recorded, their last hooks.

const agentsMax = 10_000;
const sessionsMax = 20_000;
const hooksMax = 200;

const sessionShape = z
  .object({
    agent_id: digits,
    session_id: sessionId,
    transcript: place.nullable().catch(null),
    recorded_inode: digits,
    recorded_offset: bigCount,
  })
  // Read when the agent is gone and with it the word on its config directory: then it is where a client keeps it, or nowhere.
  .transform((row) => ({ ...row, transcript: isTranscript(row.transcript, row.session_id) ? row.transcript : null }));

function isTranscript(file: string | null, session: string): boolean {
  if (file === null) return false;
  const root = path.resolve(file, '../..');
  return clients.some(({ sources: { record } }) => {
    return record?.fileName(session) === path.basename(file) && record.root(path.dirname(root)) === root;
  });
}

const tool = words(200);
const id = words(200);
/** As `ofHook` makes them of what a hook said. */
const factShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session-start'), source: words(40) }),
  z.object({ kind: z.literal('session-end'), reason: words(40) }),
  z.object({ kind: z.literal('prompt'), chars: z.number().min(0), tags: z.array(exact(40)).max(100) }),
  z.object({ kind: z.literal('turn-end') }),
  z.object({ kind: z.literal('turn-failed'), error: words(80), text: words(500).transform((text) => untrusted(text)) }),
  z.object({ kind: z.literal('tool-start'), id, tool }),
  z.object({ kind: z.literal('tool-end'), id, tool }),
  // What it asked for is not recorded.
  z.object({ kind: z.literal('permission'), tool }).transform((fact) => ({ ...fact, asks: null })),
  z.object({ kind: z.literal('allowed'), tool }),
  z.object({ kind: z.literal('compact-start') }),
  z.object({ kind: z.literal('compact-end') }),
  z.object({ kind: z.literal('subagent-start'), id }),
  z.object({ kind: z.literal('subagent-end'), id }),
  z.object({ kind: z.literal('other') }),
]);
const hookShape = z.object({
  agent_id: digits,
  at: moment,
  data: factShape.and(z.object({ subagent: words(200).nullable() })),
});

const lastHooks = `
  SELECT e.id, e.agent_id, e.at, e.data FROM agents a CROSS JOIN LATERAL (
    SELECT e.id, e.agent_id, e.at, ${json('e', 'data')} FROM events e
    WHERE e.agent_id = a.id AND e.kind = 'hook' AND e.session_id = a.session_id ORDER BY e.at DESC LIMIT $2) e
  WHERE a.host = $1 AND a.state <> 'ended' ORDER BY e.at`;

export async function loadAgents(client: pg.ClientBase, host: string, odd: OddRow): Promise<StoredAgent[]> {
  const agents = await client.query(`${selectAgents} WHERE a.host = $1 ORDER BY a.last_seen DESC LIMIT ${agentsMax}`, [
    host,
  ]);
  const sessions = await client.query(
    `SELECT s.agent_id, s.recorded_offset, ${texts('s', 'session_id', 'transcript', 'recorded_inode')} FROM sessions s
     WHERE s.ended_at IS NULL AND s.recorded_offset IS NOT NULL AND s.agent_id IN (SELECT id FROM agents WHERE host = $1)
     LIMIT ${sessionsMax}`,
    [host],
  );
  const hooks = await client.query(lastHooks, [host, hooksMax]);
  const recorded = sound('sessions', sessionShape, sessions.rows, odd, (row: { session_id: string }) => row.session_id);
  const heard = sound('events', hookShape, hooks.rows, odd);
  return storedRows(agents.rows, odd).map((row) => {
    const own = recorded.filter((session) => session.agent_id === row.id);
    const last = own.find((session) => session.session_id === row.session_id);
    return {
      view: { ...storedView(row), transcript: last?.transcript ?? null },
      recorded: new Map(
        own.map((session) => [session.session_id, { inode: session.recorded_inode, offset: session.recorded_offset }]),
      ),
      hooks: heard
        .filter((hook) => hook.agent_id === row.id)
        .map(({ at, data: { subagent, ...fact } }) => ({ atMs: at, subagent, fact })),
    };
  });
}
