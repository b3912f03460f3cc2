import { ownHost } from '../home/host-id.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { readHandoffs } from '../record/handoffs.ts';
import { type QueryFailure, withClient } from '../record/queries.ts';
import { type HandoffDocument, handoffDocument } from './documents.ts';

const shownMax = 200;

/** The newest handoffs from the record, oldest first: for the commands that only look. */
export function handoffRecords(url: string, agent: string | null): Promise<Result<HandoffDocument[], QueryFailure>> {
  const host = ownHost();
  return withClient(url, async (client) => {
    if (agent !== null) {
      const known = await client.query('SELECT 1 FROM agents WHERE host = $1 AND name = $2', [host, agent]);
      if (known.rowCount === 0) return fail('no-agent', `no agent \`${agent}\``);
    }
    const handoffs = await readHandoffs(client, host, { agent, afterMs: 0, limit: shownMax });
    return ok(handoffs.map((handoff) => handoffDocument(handoff, null)));
  });
}
