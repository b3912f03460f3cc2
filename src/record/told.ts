import type pg from 'pg';
import type { Told } from '../model/telling.ts';
import { time } from '../model/time.ts';
import { incidentColumns, incidentValues } from './incidents.ts';
import { conclude } from './ledger.ts';

/**
 * What people were told while there was no database, under the ids it was told by. It may come a second time, by a daemon
 * that was killed before it forgot it: then nothing is added. `anyway`: also without its agent, which is not on record.
 */
export async function storeTold(
  client: pg.ClientBase,
  { incident, tellings }: Told,
  anyway: boolean,
): Promise<'stored' | 'no-agent'> {
  const agents = await client.query<{ id: string }>('SELECT id FROM agents WHERE host = $1 AND name = $2', [
    incident.host,
    incident.agent,
  ]);
  const agent = agents.rows[0]?.id ?? null;
  const isMissing = incident.agent !== null && agent === null;
  if (isMissing && !anyway) return 'no-agent';
  for (const { action, outcome } of tellings) {
    await client.query(
      `INSERT INTO actions (id, at, agent_id, kind, trigger, intent, finding, host)
       VALUES ($1, $2, $3, 'notify', $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`,
      [action.id, time(action.atMs), agent, action.trigger, JSON.stringify(action.intent), action.finding, action.host],
    );
    if (outcome !== null) await conclude(client, { actionId: action.id, ...outcome });
  }
  if (!isMissing) await saveTold(client, agent, incident);
  return 'stored';
}

/** Whatever else is on record of it by now is newer. */
async function saveTold(client: pg.ClientBase, agent: string | null, incident: Told['incident']): Promise<void> {
  await client.query(
    `INSERT INTO incidents (${incidentColumns}, agent_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     ON CONFLICT (id) DO UPDATE SET tells = greatest(incidents.tells, excluded.tells),
       last_tell_at = greatest(incidents.last_tell_at, excluded.last_tell_at),
       acked_at = coalesce(incidents.acked_at, excluded.acked_at),
       closed_at = coalesce(incidents.closed_at, excluded.closed_at)`,
    [...incidentValues(incident), agent],
  );
}
