import type { LedgerEntry } from '../../model/action.ts';
import { shown } from '../../model/text.ts';
import { ledger } from '../../rows/records.ts';
import { needDatabaseUrl, queryFailure } from './database.ts';
import { print, printJson, table, when } from './output.ts';

interface LedgerQuery {
  agent: string | null;
  kind: string | null;
  limit: number;
  json: boolean;
}

/** What was meant to be done, and what came of it: refusals and their reasons included. */
export async function showLedger(query: LedgerQuery, empty: string): Promise<void> {
  const read = await ledger(needDatabaseUrl(), query);
  if (!read.ok) throw queryFailure(read);
  if (query.json) printJson({ v: 1, items: read.value.map(entryDocument) });
  else print(read.value.length === 0 ? empty : ledgerText(read.value, query));
}

/** The first outcome is the action's; later ones are what came of it. */
function entryDocument(entry: LedgerEntry) {
  const first = entry.outcomes[0];
  const answer = entry.outcomes.find((outcome) => outcome.outcome === 'answered')?.proof ?? null;
  return {
    id: entry.id,
    at: new Date(entry.atMs).toISOString(),
    agent: entry.agent,
    kind: entry.kind,
    trigger: entry.trigger,
    intent: entry.intent,
    outcome: first?.outcome ?? null,
    reason: first?.reason ?? null,
    finding: entry.finding,
    subject: entry.subject,
    proof: first?.proof ?? null,
    answer: answer === null ? null : { text: answer.answer ?? null, ms: answer.answer_ms ?? null },
    outcomes: entry.outcomes.map(({ atMs, outcome, reason }) => ({
      at: new Date(atMs).toISOString(),
      outcome,
      reason,
    })),
  };
}

/** What was asked for is not said again in every row. */
function ledgerText(entries: LedgerEntry[], { agent, kind }: LedgerQuery): string {
  const rows = entries.map((entry) => [
    { text: when(entry.atMs) },
    ...(agent === null ? [{ text: entry.agent ?? '-' }] : []),
    ...(kind === null ? [{ text: entry.kind }] : []),
    { text: entry.subject === null ? entry.trigger : `${entry.trigger} ${shown(entry.subject, 40)}` },
    {
      text:
        entry.outcomes.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome}: ${reason}`)).join(', ') ||
        'open',
    },
    { text: shown(String(entry.intent.text ?? entry.intent.command ?? '')) },
  ]);
  return table(
    ['AT', ...(agent === null ? ['AGENT'] : []), ...(kind === null ? ['WHAT'] : []), 'BY', 'OUTCOME', 'TEXT'],
    rows,
  );
}
