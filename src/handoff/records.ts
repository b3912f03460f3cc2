import { ownHost } from '../home/host-id.ts';
import { ok, type Result } from '../model/result.ts';
import { readHandoffs } from '../record/handoffs.ts';
import { findAgent, hostName } from '../record/known-agent.ts';
import { type QueryFailure, withClient } from '../record/queries.ts';
import { type HandoffDocument, handoffDocument } from './documents.ts';

const shownMax = 200;

/** The newest handoffs from the record, oldest first: for the commands that only look. */
export function handoffRecords(
  url: string,
  agent: string | null,
): Promise<Result<(HandoffDocument & { host: string })[], QueryFailure>> {
  return withClient(url, async (client) => {
    const of = await findAgent(client, ownHost(), agent);
    if (!of.ok) return of;
    const handoffs = await readHandoffs(client, of.value.host, { agent: of.value.agent, afterMs: 0, limit: shownMax });
    const host = await hostName(client, of.value.host);
    return ok(handoffs.map((handoff) => ({ ...handoffDocument(handoff, null), host })));
  });
}
