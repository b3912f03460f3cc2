import { type Handoff, stepOf } from '../../model/handoff.ts';
import { whenCleared, whenResumed } from './after-clear.ts';
import { type DeedSoFar, deedOf, lastDone, wasEverTried, wasTried } from './deeds.ts';
import { type DocumentProblem, fileProblems, staleProblem } from './document.ts';
import {
  type At,
  again,
  fail,
  type HandoffFacts,
  type HandoffFailure,
  isRecipe,
  type Move,
  serviceMs,
  serviceTriesMax,
  someoneElse,
  step,
  timesAt,
  traceMs,
  turnOf,
  wait,
} from './moves.ts';
import { isTraceOf } from './traces.ts';

/** A document is written a moment before its tool call's result is recorded. */
const slackMs = 1_000;
const stepsMax = 40;
/** A second clear would clear what the first, late one began. */
const clearMs = 30_000;
/** A document that was found good and is another one then: so often it is judged anew. */
const changesMax = 5;
const changedWord = 'it changed';

/**
 * The handoff machine: one decision from where a handoff stands and how the world is now. It never looks at what it
 * decided before; what was done is in the ledger, and what came of it in the world.
 *
 *   requested  the turn's end and a free place are waited for, then the document is asked for
 *   prompted   the agent has the request; its turn's end is waited for
 *   written    a document is there; a poor or outdated one is sent back once (prompted again)
 *   verified   it is good; a copy is stored
 *   saved      nothing has changed since: the context is cleared
 *   cleared    the client has a new session; the document is there as it was stored, or is put back, once; the first
 *              thing typed is the resume prompt
 *   resumed    the agent has it; that it reads the document and goes on is waited for
 *   confirmed  it did → done
 */
export function nextMove(handoff: Handoff, facts: HandoffFacts): Move {
  const { agent } = facts;
  if (agent === null || agent.reading.state === 'ended') return fail('ended');
  if (agent.sessionId === null) return wait('session-unknown');
  if (handoff.steps.length > stepsMax) return fail('changing');
  const at = { handoff, facts, agent, session: agent.sessionId };
  switch (stepOf(handoff)) {
    case 'cleared':
      return whenCleared(at);
    case 'resumed':
      return whenResumed(at);
    case 'confirmed':
      return step('done');
    case 'done':
    case 'failed':
      return wait('over');
    default:
      return beforeClear(at);
  }
}

/**
 * Does the time since the last look count against it? Not while nobody lets it go on, or others come first. After a usage
 * limit it has all its time again: the client goes on by itself, but only a minute or two after the reset.
 */
export function timeAtStep(
  handoff: Handoff,
  facts: Pick<HandoffFacts, 'agent' | 'forbidden' | 'hasPlace'>,
): 'counts' | 'stands' | 'anew' {
  if (facts.agent?.reading.state === 'limited') return 'anew';
  const isHeld = facts.forbidden !== null || (stepOf(handoff) === 'requested' && !facts.hasPlace);
  return isHeld ? 'stands' : 'counts';
}

/** Of these somebody knows already, or nothing is lost: no reason to call anybody, nor to count it as a try. */
const quiet: readonly (string | null)[] = ['ended', 'session-changed', 'compacted', 'watch-mode', 'authority'];

export function isQuietFailure(reason: string | null): boolean {
  return quiet.includes(reason);
}

function beforeClear(at: At): Move {
  const { handoff, facts, session } = at;
  const now = stepOf(handoff);
  if (session !== handoff.oldSession) {
    // Also one that nobody knew of when the document changed: what was stored before it was typed is handed over.
    const wasOurs = handoff.sha256 !== null && wasEverTried(at, 'clear');
    return wasOurs ? { do: 'note-cleared', newSession: session } : fail('session-changed');
  }
  if (facts.forbidden === 'authority') return fail('authority');
  if (facts.forbidden === 'watch-mode' && now === 'requested') return fail('watch-mode');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  switch (now) {
    case 'requested':
      return whenRequested(at);
    case 'prompted':
      return whenPrompted(at);
    case 'written':
      return whenWritten(at);
    case 'verified':
      return whatChanged(at) ?? { do: 'save' };
    default:
      return whenSaved(at);
  }
}

function whenRequested(at: At): Move {
  const { handoff, facts, agent } = at;
  const asked = deedOf(at, 'ask');
  if (asked.is === 'done') return step('prompted');
  if (asked.is === 'open') return wait('request-under-way');
  // A person's own handoff goes on; for a rule the reason is gone.
  if (handoff.trigger !== 'human' && (facts.old.compactedMs ?? 0) > handoff.requestedMs) return fail('compacted');
  if (!facts.hasPlace) return wait('others-first');
  const busy = whileBusy(at, 'busy');
  if (busy !== null) return busy;
  if (agent.background.length > 0 && facts.stepAgeMs < facts.backgroundMs) return wait('background-work');
  return again(at, asked, { do: 'ask', problems: [] });
}

function whenPrompted(at: At): Move {
  const { handoff, facts } = at;
  const { document } = facts;
  const asked = deedOf(at, 'ask');
  if (asked.is === 'done') return step('prompted', asked.why);
  if (asked.is === 'open') return wait('request-under-way');
  const busy = whileBusy(at, 'no-document');
  if (busy !== null) return busy;
  const { requestMs, traceMaxMs } = requestTaken(at);
  // It may be queued behind a turn that has just ended: its own is about to begin.
  if (facts.stepAgeMs < traceMaxMs) return wait('request-turn');
  // The registry says idle a moment before the record has the turn's end.
  if ((facts.old.turnEndedMs ?? 0) < requestMs && facts.stepAgeMs < traceMs) return wait('turn-end');
  if (document === null || document.kind === 'changing') return whileChanging(at);
  if (document.kind === 'ok') return step('written');
  if ((facts.old.failedMs ?? 0) > requestMs) {
    if (timesAt(handoff, 'prompted') > serviceTriesMax) return fail('service');
    return facts.stepAgeMs < serviceMs ? wait('service-failed') : again(at, asked, { do: 'ask', problems: [] });
  }
  return sendBack(at, asked, [fileProblems[document.kind]]);
}

function whenWritten(at: At): Move {
  const { document } = at.facts;
  const asked = deedOf(at, 'ask');
  if (asked.is === 'done') return step('prompted', asked.why);
  if (asked.is === 'open') return wait('request-under-way');
  const busy = whileBusy(at, 'busy');
  if (busy !== null) return busy;
  if (document === null || document.kind === 'changing') return whileChanging(at);
  if (document.kind !== 'ok') return sendBack(at, asked, [fileProblems[document.kind]]);
  const problems = isOutdated(at, document.mtimeMs) ? [...document.problems, staleProblem] : document.problems;
  return problems.length > 0 ? sendBack(at, asked, problems) : step('verified');
}

/** Whatever happened since the document was found good: back to where it is judged. */
function whatChanged(at: At): Move | null {
  const { handoff, facts } = at;
  const { document } = facts;
  const busy = whileBusy(at, 'busy');
  if (busy !== null) return busy;
  if (document === null || document.kind === 'changing') return whileChanging(at);
  const isGood = document.kind === 'ok' && document.problems.length === 0;
  if (!isGood || (stepOf(handoff) === 'saved' && document.sha256 !== handoff.sha256))
    return timesChanged(handoff) < changesMax ? step('written', changedWord) : fail('changing');
  return isOutdated(at, document.mtimeMs) ? step('written', 'the work went on') : null;
}

function whenSaved(at: At): Move {
  const { facts } = at;
  const cleared = deedOf(at, 'clear');
  if (cleared.is === 'open') return wait('clear-under-way');
  // Only the client's new session proves it.
  if (cleared.is === 'done') return facts.stepAgeMs < facts.deadlineMs ? wait('new-session') : fail('not-cleared');
  if (cleared.is === 'uncertain' && cleared.ageMs < clearMs) return wait('arrival-unknown');
  const changed = whatChanged(at);
  if (changed !== null) return changed;
  const move = again(at, cleared, { do: 'clear' });
  return move.do === 'fail' && move.reason === 'uncertain' ? fail('not-cleared') : move;
}

/** A poor document is sent back once, with what is missing. */
function sendBack(at: At, asked: DeedSoFar, problems: readonly DocumentProblem[]): Move {
  const [first] = problems;
  if (at.handoff.sentBack === 0) return again(at, asked, { do: 'ask', problems });
  if (first === staleProblem) return fail('stale');
  return fail(first === fileProblems.missing ? 'no-document' : 'poor');
}

/** When the agent took the last request in, as its own record has it, and how long that is waited for. */
function requestTaken(at: At): { requestMs: number; traceMaxMs: number } {
  const asked = lastDone(at, 'ask');
  if (asked === null) return { requestMs: 0, traceMaxMs: 0 };
  const heard = at.facts.old.prompts.findLast((prompt) => isTraceOf(asked, prompt));
  if (heard !== undefined) return { requestMs: heard.atMs, traceMaxMs: 0 };
  const isQueued = asked.outcomes.every(({ outcome }) => outcome === 'queued');
  return { requestMs: asked.atMs, traceMaxMs: isQueued ? at.facts.deadlineMs : traceMs };
}

function timesChanged(handoff: Handoff): number {
  return handoff.steps.filter(({ reason }) => reason === changedWord).length;
}

/** Written, but the work went on after it; or somebody else has said something since. */
function isOutdated(at: At, writtenMs: number): boolean {
  const { old } = at.facts;
  if (someoneElse(at, old, writtenMs)) return true;
  const workedMs = old.workedMs ?? 0;
  // What else a recipe has done in its turn is the recipe's own affair; a later turn is not.
  if (isRecipe(at.handoff)) return (old.clientTurnMs ?? 0) > writtenMs && workedMs > (old.clientTurnMs ?? 0);
  return workedMs > writtenMs + slackMs;
}

/** Why it has to wait while the agent is not at its prompt, and what after the deadline; null: it is there. */
function whileBusy(at: At, otherwise: HandoffFailure): Move | null {
  const { facts, agent } = at;
  const turn = turnOf(at);
  if (turn === 'over') return null;
  const { state } = agent.reading;
  const waits = wait(turn === 'dialog' ? 'dialog-open' : `is-${at.agent.reading.state}`);
  if (facts.stepAgeMs < facts.deadlineMs) return waits;
  if (turn === 'dialog') return fail('dialog');
  if (turn === 'unclear') return fail(state === 'unknown' ? 'unknown' : 'service');
  // One that is refused again and again does not keep it open for ever.
  const mayTry = facts.stepAgeMs < 3 * facts.deadlineMs && !wasTried(deedOf(at, 'interrupt'));
  if (state === 'working' && mayTry) return { do: 'interrupt' };
  return facts.stepAgeMs < 2 * facts.deadlineMs ? waits : fail(otherwise);
}

function whileChanging({ facts }: At): Move {
  return facts.stepAgeMs < facts.deadlineMs ? wait('document') : fail('changing');
}
