import { z } from 'zod';
import type { LedgerEntry } from '../model/action.ts';
import type { AgentRef } from '../model/agent-ref.ts';
import type { Incident } from '../model/incident.ts';
import { ok, type Result } from '../model/result.ts';
import { readLedger } from './ledger.ts';
import { type QueryFailure, withClient } from './queries.ts';
import { checkName, count, exact, leftOut, moment, sound, texts, words } from './rows.ts';

/** A trouble of an agent, open or over. */
interface FoundTrouble extends Omit<Incident, 'host' | 'agent' | 'project' | 'lastPromptMs' | 'lastTellMs'> {
  /** Who ended it, as far as that can be known. */
  ending: string | null;
}

/** What was found about an agent and done to it lately, the newest first. */
export interface AgentRecord {
  found: FoundTrouble[];
  done: LedgerEntry[];
}

const newest = 10;

export function readAgentRecord(url: string, of: AgentRef): Promise<Result<AgentRecord, QueryFailure>> {
  return withClient(url, async (client) => {
    const rows = await client.query(
      `SELECT i.id, i.opened_at, i.closed_at, i.acked_at, i.prompts, i.tells,
         ${texts('i', 'check_name', 'subject', 'severity', 'text')}, (SELECT left(s.ending, 100) FROM scores s WHERE s.incident_id = i.id) AS ending
       FROM incidents i JOIN agents a ON a.id = i.agent_id WHERE a.host = $1 AND a.name = $2
       ORDER BY i.opened_at DESC LIMIT ${newest}`,
      [of.host, of.agent],
    );
    const found = sound('incidents', foundShape, rows.rows, leftOut).map((row) => ({
      id: row.id,
      check: row.check_name,
      subject: row.subject,
      severity: row.severity,
      text: row.text,
      openedMs: row.opened_at,
      closedMs: row.closed_at,
      ackedMs: row.acked_at,
      prompts: row.prompts,
      tells: row.tells,
      ending: row.ending,
    }));
    const done = await readLedger(client, of.host, { agent: of.agent, kind: null, limit: newest });
    return ok({ found, done: done.reverse() });
  });
}

const foundShape = z.object({
  id: z.string(),
  check_name: checkName,
  subject: exact(1_000).nullable(),
  severity: z.enum(['warning', 'critical']),
  text: words(),
  opened_at: moment,
  closed_at: moment.nullable(),
  acked_at: moment.nullable(),
  prompts: count,
  tells: count,
  ending: words(100).nullable(),
});
