import { ownHost } from '../home/host-id.ts';
import type { LedgerEntry } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import type { Result } from '../model/result.ts';
import {
  describeServer,
  type EventRow,
  exportRows,
  type QueryFailure,
  queryLedger,
  readEvents,
} from '../record/queries.ts';

/** Reading the record from outside the daemon: for the commands that only look. */

export function recentEvents(
  url: string,
  agent: string | null,
  limit: number,
): Promise<Result<EventRow[], QueryFailure>> {
  return readEvents(url, ownHost(), agent, limit);
}

export function exportEverything(
  url: string,
  row: (table: string, values: Json) => Promise<void>,
): Promise<Result<number, QueryFailure>> {
  return exportRows(url, row);
}

export function describeDatabase(url: string): Promise<Result<{ version: string; schema: number }, QueryFailure>> {
  return describeServer(url);
}

export function ledger(
  url: string,
  filter: { agent: string | null; kind: string | null; limit: number },
): Promise<Result<LedgerEntry[], QueryFailure>> {
  return queryLedger(url, ownHost(), filter);
}
