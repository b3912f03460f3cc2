import type pg from 'pg';
import { z } from 'zod';
import type { Sighting } from '../model/agent.ts';
import type { HostEntry, HostStanding } from '../model/host.ts';
import { ok, type Result } from '../model/result.ts';
import { selectAgents, storedRows, storedView } from './agent-row.ts';
import { type QueryFailure, withClient } from './queries.ts';
import { exact, leftOut, sound } from './rows.ts';

/** Tables whose rows were once under the host's name. The ledger only grows: there `was` says whose they are. */
const adopted = ['agents', 'authority_overrides', 'incidents', 'scores', 'active_spawns'];

/**
 * The first time, rows from before there were ids are taken over by the name they are under: once, by whoever comes first. A person's
 * `observe` holds for every supervisor of the machine, for a copy, and for all that came from that name: to be forgotten it would
 * have to be taken back, not the data directory changed.
 */
export async function enterHost(
  client: pg.ClientBase,
  { id, name, machine, copyOf }: HostEntry,
): Promise<HostStanding> {
  const known = await client.query(
    'UPDATE hosts SET name = $2, machine = coalesce($3, machine), seen_at = now() WHERE id = $1',
    [id, name, machine],
  );
  if (known.rowCount === 1) return { isFirst: false };
  const first = await client.query(
    'INSERT INTO hosts (id, name, machine, was, seen_at) VALUES ($1, $2, $3, $2, now()) ON CONFLICT (was) DO NOTHING',
    [id, name, machine],
  );
  if (first.rowCount === 1)
    for (const table of adopted) await client.query(`UPDATE ${table} SET host = $1 WHERE host = $2`, [id, name]);
  else
    await client.query('INSERT INTO hosts (id, name, machine, seen_at) VALUES ($1, $2, $3, now())', [
      id,
      name,
      machine,
    ]);
  await client.query(
    `INSERT INTO authority_overrides (host, agent, authority)
     SELECT DISTINCT $1, o.agent, o.authority FROM authority_overrides o JOIN hosts h ON h.id = o.host
     WHERE o.authority = 'observe' AND (h.id = $2 OR h.machine = $3 OR h.was = $4)
     ON CONFLICT (host, agent) DO NOTHING`,
    [id, copyOf, machine, name],
  );
  const agents = await client.query('SELECT 1 FROM agents WHERE host = $1 LIMIT 1', [id]);
  return { isFirst: agents.rowCount === 0 };
}

/** It lives: told every few seconds, by the clock of the database. */
export async function seeHost(client: pg.ClientBase, host: string): Promise<void> {
  await client.query('UPDATE hosts SET seen_at = now() WHERE id = $1', [host]);
}

/** A host and its agents as its rows have them. */
export interface HostRecord {
  id: string;
  name: string;
  /** How long ago it was last heard; null: never, or before that was written down. */
  ageMs: number | null;
  agents: Sighting[];
}

const hostsMax = 1_000;
const agentsMax = 10_000;

const hostShape = z.object({
  id: exact(),
  name: exact(200),
  age_s: z.number().min(0).max(1e11).nullable().catch(null),
});

/** Every host on this database, with the agents that it recorded and that have not ended. */
export function readHosts(url: string): Promise<Result<HostRecord[], QueryFailure>> {
  return withClient(url, async (client) => {
    const hosts = await client.query(
      `SELECT left(h.id, 501) AS id, left(h.name, 201) AS name,
         CASE WHEN isfinite(h.seen_at) THEN greatest(0, extract(epoch FROM now() - h.seen_at))::float8 END AS age_s
       FROM hosts h ORDER BY h.name, h.first_seen LIMIT ${hostsMax}`,
    );
    const agents = await client.query(`${selectAgents} WHERE a.state <> 'ended' ORDER BY a.name LIMIT ${agentsMax}`);
    const rows = storedRows(agents.rows, leftOut);
    return ok(
      sound('hosts', hostShape, hosts.rows, leftOut).map(({ id, name, age_s: age }) => ({
        ...{ id, name, ageMs: age === null ? null : Math.round(age * 1000) },
        agents: rows.filter(({ host }) => host === id).map(storedView),
      })),
    );
  });
}
