import { entryDocument } from '../../daemon/ledger-document.ts';
import type { LedgerEntry } from '../../model/action.ts';
import { shown } from '../../model/text.ts';
import { ledger } from '../../rows/records.ts';
import { onRecord, queryFailure } from './database.ts';
import { print, printJson, say, table, when } from './output.ts';

interface LedgerQuery {
  agent: string | null;
  kind: string | null;
  limit: number;
  json: boolean;
}

/** What was meant to be done, and what came of it: refusals and their reasons included. */
export async function showLedger(query: LedgerQuery, empty: string): Promise<void> {
  const read = await onRecord((url) => ledger(url, query));
  if (!read.ok) throw queryFailure(read);
  if (query.json) printJson({ v: 1, items: read.value.entries.map((entry) => entryDocument(entry, read.value.host)) });
  else if (read.value.entries.length === 0) say(empty);
  else print(ledgerText(read.value.entries, query));
}

/** What was asked for is not said again in every row. */
function ledgerText(entries: LedgerEntry[], { agent, kind }: LedgerQuery): string {
  const rows = entries.map((entry) => [
    { text: when(entry.atMs) },
    ...(agent === null ? [{ text: entry.agent ?? '-' }] : []),
    ...(kind === null ? [{ text: entry.kind }] : []),
    { text: entry.subject === null ? by(entry) : `${by(entry)} ${shown(entry.subject, 40)}` },
    { text: outcomesText(entry) },
    {
      text: shown(
        String(
          entry.intent.text ??
            entry.intent.command ??
            entry.intent.authority ??
            entry.intent.check ??
            entry.intent.reason ??
            '',
        ),
      ),
    },
  ]);
  return table(
    ['AT', ...(agent === null ? ['AGENT'] : []), ...(kind === null ? ['WHAT'] : []), 'BY', 'OUTCOME', 'TEXT'],
    rows,
  );
}

/** That it was taken up says nothing more once what came of it is known. */
function outcomesText({ outcomes }: LedgerEntry): string {
  const isOver = outcomes.some(({ outcome }) => !['confirmed', 'queued', 'reacted'].includes(outcome));
  const said = outcomes.filter(({ outcome }) => outcome !== 'reacted' || !isOver);
  return said.map(({ outcome, reason }) => (reason === null ? outcome : `${outcome}: ${reason}`)).join(', ') || 'open';
}

/** A rule by its name; a person or an agent by theirs, where it is on record. */
function by({ trigger, intent }: LedgerEntry): string {
  return trigger === 'human' && typeof intent.by === 'string' ? shown(intent.by, 60) : trigger;
}
