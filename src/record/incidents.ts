import type pg from 'pg';
import type { Authority, CheckName } from '../model/agent.ts';
import { knownAuthority } from '../model/authority.ts';
import type { Incident } from '../model/incident.ts';
import { time } from './agent-row.ts';

export async function saveIncident(client: pg.ClientBase, host: string, incident: Incident): Promise<void> {
  await client.query(
    `INSERT INTO incidents (id, agent_id, check_name, severity, text, opened_at, closed_at, acked_at, prompts, last_prompt_at,
       tells, last_tell_at, host, project, subject)
     SELECT $1, a.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14, $15
     FROM (SELECT 1) one LEFT JOIN agents a ON a.host = $12 AND a.name = $13 WHERE a.id IS NOT NULL OR $13::text IS NULL
     ON CONFLICT (id) DO UPDATE SET severity = excluded.severity, text = excluded.text, closed_at = excluded.closed_at,
       acked_at = excluded.acked_at, prompts = excluded.prompts, last_prompt_at = excluded.last_prompt_at,
       tells = excluded.tells, last_tell_at = excluded.last_tell_at`,
    [
      incident.id,
      incident.check,
      incident.severity,
      incident.text,
      time(incident.openedMs),
      time(incident.closedMs),
      time(incident.ackedMs),
      incident.prompts,
      time(incident.lastPromptMs),
      incident.tells,
      time(incident.lastTellMs),
      host,
      incident.agent,
      incident.project,
      incident.subject,
    ],
  );
}

interface IncidentRow {
  id: string;
  agent: string | null;
  project: string | null;
  subject: string | null;
  check_name: CheckName;
  severity: 'warning' | 'critical';
  text: string;
  opened_at: Date;
  closed_at: Date | null;
  acked_at: Date | null;
  prompts: number;
  last_prompt_at: Date | null;
  tells: number;
  last_tell_at: Date | null;
}

export async function openIncidents(client: pg.ClientBase, host: string): Promise<Incident[]> {
  const rows = await client.query<IncidentRow>(
    `SELECT i.*, a.name AS agent FROM incidents i LEFT JOIN agents a ON a.id = i.agent_id
     WHERE coalesce(a.host, i.host) = $1 AND i.closed_at IS NULL ORDER BY i.opened_at`,
    [host],
  );
  return rows.rows.map((row) => ({
    id: row.id,
    agent: row.agent,
    project: row.project ?? '',
    check: row.check_name,
    subject: row.subject,
    severity: row.severity,
    text: row.text,
    openedMs: row.opened_at.getTime(),
    closedMs: null,
    ackedMs: row.acked_at?.getTime() ?? null,
    prompts: row.prompts,
    lastPromptMs: row.last_prompt_at?.getTime() ?? null,
    tells: row.tells,
    lastTellMs: row.last_tell_at?.getTime() ?? null,
  }));
}

export async function saveAuthority(
  client: pg.ClientBase,
  host: string,
  agent: string,
  authority: Authority,
): Promise<void> {
  await client.query(
    `INSERT INTO authority_overrides (host, agent, authority) VALUES ($1, $2, $3)
     ON CONFLICT (host, agent) DO UPDATE SET authority = excluded.authority, set_at = now()`,
    [host, agent, authority],
  );
}

export async function loadAuthorities(client: pg.ClientBase, host: string): Promise<Map<string, Authority>> {
  const rows = await client.query<{ agent: string; authority: Authority }>(
    'SELECT agent, authority FROM authority_overrides WHERE host = $1',
    [host],
  );
  return new Map(rows.rows.map((row) => [row.agent, knownAuthority(row.authority)]));
}
