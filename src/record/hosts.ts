import type pg from 'pg';
import type { HostEntry } from '../model/host.ts';

/** Tables whose rows were once under the host's name. The ledger only grows: there `was` says whose they are. */
const adopted = ['agents', 'authority_overrides', 'incidents', 'scores', 'active_spawns'];

/**
 * The first time, rows from before there were ids are taken over by the name they are under: once, by whoever comes first. A person's
 * `observe` holds for every supervisor of the machine, for a copy, and for all that came from that name: to be forgotten it would
 * have to be taken back, not the data directory changed.
 */
export async function enterHost(client: pg.ClientBase, { id, name, machine, copyOf }: HostEntry): Promise<void> {
  const known = await client.query('UPDATE hosts SET name = $2, machine = coalesce($3, machine) WHERE id = $1', [
    id,
    name,
    machine,
  ]);
  if (known.rowCount === 1) return;
  const first = await client.query(
    'INSERT INTO hosts (id, name, machine, was) VALUES ($1, $2, $3, $2) ON CONFLICT (was) DO NOTHING',
    [id, name, machine],
  );
  if (first.rowCount === 1)
    for (const table of adopted) await client.query(`UPDATE ${table} SET host = $1 WHERE host = $2`, [id, name]);
  else await client.query('INSERT INTO hosts (id, name, machine) VALUES ($1, $2, $3)', [id, name, machine]);
  await client.query(
    `INSERT INTO authority_overrides (host, agent, authority)
     SELECT DISTINCT $1, o.agent, o.authority FROM authority_overrides o JOIN hosts h ON h.id = o.host
     WHERE o.authority = 'observe' AND (h.id = $2 OR h.machine = $3 OR h.was = $4)
     ON CONFLICT (host, agent) DO NOTHING`,
    [id, copyOf, machine, name],
  );
}
