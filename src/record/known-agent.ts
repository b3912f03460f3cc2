import type pg from 'pg';
import { z } from 'zod';
import type { AgentOrHost, AgentRef } from '../model/agent-ref.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { shown } from '../model/text.ts';
import { exact, leftOut, sound } from './rows.ts';

const hostsMax = 100;

/**
 * Which agent is meant by `name` or `host/name`. A name by itself is one of this host. A host is called by its name or by
 * its id, of which eight characters are enough: two data directories on one machine have one name.
 */
export async function findAgent(
  client: pg.ClientBase,
  ownHost: string,
  text: string,
): Promise<Result<AgentRef, 'no-agent'>>;
/** null: all of this host. */
export async function findAgent(
  client: pg.ClientBase,
  ownHost: string,
  text: string | null,
): Promise<Result<AgentOrHost, 'no-agent'>>;
export async function findAgent(
  client: pg.ClientBase,
  ownHost: string,
  text: string | null,
): Promise<Result<AgentOrHost, 'no-agent'>> {
  if (text === null) return ok({ host: ownHost, agent: null });
  // A name may hold a slash itself.
  if (await isKnown(client, { host: ownHost, agent: text })) return ok({ host: ownHost, agent: text });
  const slash = text.indexOf('/');
  const none = fail('no-agent', `no agent \`${shown(text, 200)}\``);
  if (slash < 1) return none;
  const [called, name] = [text.slice(0, slash), text.slice(slash + 1)];
  const rows = await client.query(
    `SELECT h.id FROM hosts h WHERE (h.name = $1 OR h.id = $1 OR (length($1) >= 8 AND starts_with(h.id, $1)))
       AND EXISTS (SELECT FROM agents a WHERE a.host = h.id AND a.name = $2) LIMIT ${hostsMax}`,
    [called, name],
  );
  const hosts = sound('hosts', z.object({ id: exact() }), rows.rows, leftOut);
  const [only, other] = hosts;
  if (only === undefined) return none;
  if (other === undefined) return ok({ host: only.id, agent: name });
  const ids = hosts.map(({ id }) => id.slice(0, 8)).join(', ');
  return fail('no-agent', `several hosts are called ${shown(called, 200)}`, `say which by its id: ${ids}`);
}

async function isKnown(client: pg.ClientBase, { host, agent }: AgentRef): Promise<boolean> {
  return (await client.query('SELECT 1 FROM agents WHERE host = $1 AND name = $2', [host, agent])).rowCount !== 0;
}

/** What people call a host; one that is not on record, by what its rows say. */
export async function hostName(client: pg.ClientBase, host: string): Promise<string> {
  const rows = await client.query('SELECT left(name, 201) AS name FROM hosts WHERE id = $1', [host]);
  const [named] = sound('hosts', z.object({ name: exact(200) }), rows.rows, leftOut);
  return named?.name ?? host;
}
