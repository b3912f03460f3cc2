import { ownHost } from '../home/host-id.ts';
import { ok, type Result } from '../model/result.ts';
import { type HostRecord, readHosts } from '../record/hosts.ts';
import { type EventRow, type HostLedger, type QueryFailure, queryLedger, readEvents } from '../record/queries.ts';

export { exportRows } from '../record/queries.ts';

/** Reading the record from outside the daemon: for the commands that only look. */

export function recentEvents(
  url: string,
  agent: string | null,
  limit: number,
): Promise<Result<EventRow[], QueryFailure>> {
  return readEvents(url, ownHost(), agent, limit);
}

/** All hosts on this database, this one first. */
export async function hostRecords(url: string): Promise<Result<(HostRecord & { isOwn: boolean })[], QueryFailure>> {
  const read = await readHosts(url);
  if (!read.ok) return read;
  const own = ownHost();
  const all = read.value.map((host) => ({ ...host, isOwn: host.id === own }));
  return ok(all.sort((a, b) => Number(b.isOwn) - Number(a.isOwn)));
}

export function ledger(
  url: string,
  filter: { agent: string | null; kind: string | null; limit: number },
): Promise<Result<HostLedger, QueryFailure>> {
  return queryLedger(url, ownHost(), filter);
}
