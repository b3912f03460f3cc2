import type pg from 'pg';
import { z } from 'zod';
import type { Authority } from '../model/agent.ts';
import type { AgentRef } from '../model/agent-ref.ts';
import type { Incident } from '../model/incident.ts';
import { time } from '../model/time.ts';
import { checkName, count, exact, moment, type OddRow, sound, texts, words } from './rows.ts';

const openMax = 10_000;

export async function saveIncident(client: pg.ClientBase, incident: Incident): Promise<void> {
  await client.query(
    `INSERT INTO incidents (${incidentColumns}, agent_id)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, a.id
     FROM (SELECT 1) one LEFT JOIN agents a ON a.host = $12 AND a.name = $15 WHERE a.id IS NOT NULL OR $15::text IS NULL
     ON CONFLICT (id) DO UPDATE SET severity = excluded.severity, text = excluded.text, closed_at = excluded.closed_at,
       acked_at = excluded.acked_at, prompts = excluded.prompts, last_prompt_at = excluded.last_prompt_at,
       tells = excluded.tells, last_tell_at = excluded.last_tell_at`,
    [...incidentValues(incident), incident.agent],
  );
}

/** Of its row, but for whose agent it is. */
export const incidentColumns =
  'id, check_name, severity, text, opened_at, closed_at, acked_at, prompts, last_prompt_at, tells, last_tell_at, host, project, subject';

export function incidentValues(incident: Incident): unknown[] {
  const { id, check, severity, text, prompts, tells, host, project, subject } = incident;
  const [opened, closed, acked] = [incident.openedMs, incident.closedMs, incident.ackedMs].map(time);
  const [prompted, told] = [incident.lastPromptMs, incident.lastTellMs].map(time);
  return [id, check, severity, text, opened, closed, acked, prompts, prompted, tells, told, host, project, subject];
}

const incidentShape = z
  .object({
    id: z.string(),
    agent: exact().nullable(),
    project: words(200).nullable(),
    subject: exact(1_000).nullable(),
    check_name: checkName,
    severity: z.enum(['warning', 'critical']),
    text: words(),
    opened_at: moment,
    acked_at: moment.nullable(),
    prompts: count,
    last_prompt_at: moment.nullable(),
    tells: count,
    last_tell_at: moment.nullable(),
  })
  // Of one that comes and goes the subject is the check, and what of it.
  .refine(({ check_name, subject }) => check_name !== 'flapping' || isCheck(subject?.split(':')[0]), 'no such check')
  .refine(({ check_name, subject }) => check_name !== 'handoff-failed' || subject !== null, 'no handoff');

export async function openIncidents(client: pg.ClientBase, host: string, odd: OddRow): Promise<Incident[]> {
  const rows = await client.query(
    `SELECT i.id, i.opened_at, i.acked_at, i.prompts, i.last_prompt_at, i.tells, i.last_tell_at, ${texts('a', 'name')},
       ${texts('i', 'project', 'subject', 'check_name', 'severity', 'text')}
     FROM incidents i LEFT JOIN agents a ON a.id = i.agent_id
     WHERE coalesce(a.host, i.host) = $1 AND i.closed_at IS NULL ORDER BY i.opened_at LIMIT ${openMax}`,
    [host],
  );
  const named = rows.rows.map(({ name, ...row }) => ({ ...row, agent: name }));
  return sound('incidents', incidentShape, named, odd).map((row) => ({
    id: row.id,
    host,
    agent: row.agent,
    project: row.project ?? '',
    check: row.check_name,
    subject: row.subject,
    severity: row.severity,
    text: row.text,
    openedMs: row.opened_at,
    closedMs: null,
    ackedMs: row.acked_at,
    prompts: row.prompts,
    lastPromptMs: row.last_prompt_at,
    tells: row.tells,
    lastTellMs: row.last_tell_at,
  }));
}

function isCheck(name: string | undefined): boolean {
  return checkName.safeParse(name).success;
}

export async function saveAuthority(
  client: pg.ClientBase,
  { host, agent }: AgentRef,
  authority: Authority,
): Promise<void> {
  await client.query(
    `INSERT INTO authority_overrides (host, agent, authority) VALUES ($1, $2, $3)
     ON CONFLICT (host, agent) DO UPDATE SET authority = excluded.authority, set_at = now()`,
    [host, agent, authority],
  );
}

const authorityShape = z.object({
  agent: exact(),
  // A word that is none of ours allows the least.
  authority: z.enum(['observe', 'nudge', 'manage']).catch('observe'),
});

export async function loadAuthorities(
  client: pg.ClientBase,
  host: string,
  odd: OddRow,
): Promise<Map<string, Authority>> {
  const rows = await client.query(
    `SELECT ${texts('o', 'agent', 'authority')} FROM authority_overrides o WHERE host = $1`,
    [host],
  );
  const read = sound('authority_overrides', authorityShape, rows.rows, odd, ({ agent }) => agent);
  return new Map(read.map(({ agent, authority }) => [agent, authority]));
}
