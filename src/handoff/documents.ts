import type { Caller } from '../model/caller.ts';
import { type Handoff, stepOf } from '../model/handoff.ts';

export const handoffWaitsText =
  'it asks before it writes (manual mode), and no hook of ours is there to answer, so a handoff waits until a person ' +
  'allows the file: run `watchkeeper init` in its directory, or `watchkeeper init --user` for all';

/** The JSON shape of `handoff` and `handoffs`. */
export type HandoffDocument = ReturnType<typeof handoffDocument>;

export function handoffDocument(handoff: Handoff, waitsFor: string | null, waits = false) {
  const isWithoutDocument = ['requested', 'prompted'].includes(stepOf(handoff));
  const last = handoff.steps.at(-1);
  return {
    id: handoff.id as string | null,
    agent: handoff.agent,
    step: stepOf(handoff),
    reason: last?.step === 'failed' ? last.reason : null,
    file: handoff.file as string | null,
    sha256: handoff.sha256,
    old_session: handoff.oldSession as string | null,
    new_session: handoff.newSession,
    steps: handoff.steps.map(({ step, atMs, reason }) => ({ step, at: new Date(atMs).toISOString(), reason })),
    trigger: handoff.trigger as string,
    /** Who asked for it; null: nobody wrote it down. */
    by: handoff.by,
    recipe: handoff.recipe,
    requested_at: new Date(handoff.requestedMs).toISOString(),
    /** What it waits for now; null: nothing, or it is over. */
    waits_for: waitsFor,
    /** What it lacks to come to its end by itself. */
    warning: waits && isWithoutDocument ? handoffWaitsText : null,
  };
}

/** One that cannot even begin, or only would. */
export function unbegunDocument(
  agent: string,
  reason: string | null,
  would: { by: Caller; file: string | null; session: string | null; recipe: string; atMs: number; waits: boolean },
): HandoffDocument {
  return {
    id: null,
    agent,
    step: reason === null ? 'requested' : 'failed',
    reason,
    file: would.file,
    sha256: null,
    old_session: would.session,
    new_session: null,
    steps: [],
    trigger: 'human',
    by: would.by,
    recipe: would.recipe,
    requested_at: new Date(would.atMs).toISOString(),
    waits_for: null,
    warning: would.waits ? handoffWaitsText : null,
  };
}
