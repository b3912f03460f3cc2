import type { HandoffSigns } from '../../detect/handoff-signs.ts';
import type { Refusal } from '../../model/action.ts';
import type { AgentView } from '../../model/agent.ts';
import { type Handoff, stepOf } from '../../model/handoff.ts';
import { type Deed, type DeedFacts, deedOf, isHopeless, lastDone, wasEverTried, wasTried } from './deeds.ts';
import { type DocumentProblem, fileProblems, staleProblem } from './document.ts';

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
export type Move =
  | { do: 'wait'; reason: string }
  /** `problems`: what is wrong with the one before; none: the request itself. */
  | { do: 'ask'; problems: readonly DocumentProblem[] }
  | { do: 'interrupt' }
  | {
      do: 'step';
      step: 'prompted' | 'written' | 'verified' | 'resumed' | 'confirmed' | 'done';
      reason: string | null;
    }
  | { do: 'save' }
  | { do: 'clear' }
  | { do: 'note-cleared'; newSession: string }
  /** The file is no longer what was stored: the stored text goes there once more. */
  | { do: 'put-back' }
  | { do: 'resume' }
  | { do: 'go-back' }
  | { do: 'fail'; reason: HandoffFailure };

type HandoffFailure =
  | 'ended'
  | 'session-changed'
  | 'compacted'
  | 'dialog'
  | 'unknown'
  | 'service'
  | 'no-document'
  | 'poor'
  | 'changing'
  | 'not-cleared'
  | 'not-confirmed'
  | 'taken-over'
  | 'uncertain'
  | Refusal;

/** What a look at the document found. */
export type DocumentLook =
  | { kind: keyof typeof fileProblems }
  | { kind: 'ok'; sha256: string; mtimeMs: number; problems: readonly DocumentProblem[] };

export interface HandoffFacts extends DeedFacts {
  /** How long this run has seen it at this step: neither our own absence nor a jump of the clock counts. */
  stepAgeMs: number;
  deadlineMs: number;
  /** So long background work is waited for before the document is asked for. */
  backgroundMs: number;
  /** null: it is gone. */
  agent: Pick<AgentView, 'reading' | 'sessionId' | 'background'> | null;
  /** Pause, mode or authority. */
  forbidden: Refusal | null;
  /** One of the places for handoffs at the same time is free, or already its own. */
  hasPlace: boolean;
  /** null: not looked at. */
  document: DocumentLook | null;
  old: HandoffSigns;
  /** Of the session after the clear. */
  fresh: HandoffSigns;
}

/** A prompt of which no trace has come for so long did not arrive. */
const traceMs = 10_000;
/** After an error of the service the same is said again, but not at once. */
const serviceMs = 30_000;
/** A document is written a moment before its tool call's result is recorded. */
const slackMs = 1_000;
const triesMax = 2;
const stepsMax = 40;
const serviceTriesMax = 4;

export function nextMove(handoff: Handoff, facts: HandoffFacts): Move {
  const { agent } = facts;
  if (agent === null || agent.reading.state === 'ended') return fail('ended');
  if (agent.sessionId === null) return wait('its session is not known');
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
      return wait('it is over');
    default:
      return beforeClear(at);
  }
}

/** Time that does not count against it: nobody lets it go on, or the account waits for its allowance. */
export function standsStill(handoff: Handoff, facts: HandoffFacts): boolean {
  if (facts.forbidden !== null || facts.agent?.reading.state === 'limited') return true;
  return stepOf(handoff) === 'requested' && !facts.hasPlace;
}

/** Of these somebody knows already, or nothing is lost: no reason to call anybody, nor to count it as a try. */
const quiet: readonly (string | null)[] = ['ended', 'session-changed', 'compacted', 'watch-mode', 'authority'];

export function isQuietFailure(reason: string | null): boolean {
  return quiet.includes(reason);
}

interface At {
  handoff: Handoff;
  facts: HandoffFacts;
  agent: NonNullable<HandoffFacts['agent']>;
  session: string;
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
  if (asked.is === 'open') return wait('the request is under way');
  // A person's own handoff goes on; for a rule the reason is gone.
  if (handoff.trigger !== 'human' && (facts.old.compactedMs ?? 0) > handoff.requestedMs) return fail('compacted');
  if (!facts.hasPlace) return wait('other handoffs come first');
  const busy = whileBusy(at, 'busy');
  if (busy !== null) return busy;
  if (agent.background.length > 0 && facts.stepAgeMs < facts.backgroundMs) return wait('its background work');
  return again(at, asked, { do: 'ask', problems: [] });
}

function whenPrompted(at: At): Move {
  const { handoff, facts } = at;
  const { document } = facts;
  const asked = deedOf(at, 'ask');
  if (asked.is === 'done') return step('prompted', asked.why);
  if (asked.is === 'open') return wait('the request is under way');
  const busy = whileBusy(at, 'no-document');
  if (busy !== null) return busy;
  const requestMs = lastDone(at, 'ask')?.atMs ?? 0;
  // The registry says idle a moment before the record has the turn's end.
  if ((facts.old.turnEndedMs ?? 0) < requestMs && facts.stepAgeMs < traceMs) return wait('the end of its turn');
  if (document === null || document.kind === 'changing') return whileChanging(at);
  if (document.kind === 'ok') return step('written');
  if ((facts.old.failedMs ?? 0) > requestMs) {
    if (timesAt(handoff, 'prompted') > serviceTriesMax) return fail('service');
    return facts.stepAgeMs < serviceMs ? wait('the service failed') : again(at, asked, { do: 'ask', problems: [] });
  }
  return sendBack(at, asked, [fileProblems[document.kind]]);
}

function whenWritten(at: At): Move {
  const { document } = at.facts;
  const asked = deedOf(at, 'ask');
  if (asked.is === 'done') return step('prompted', asked.why);
  if (asked.is === 'open') return wait('the request is under way');
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
  if (document.kind !== 'ok' || document.problems.length > 0) return step('written', 'it changed');
  if (stepOf(handoff) === 'saved' && document.sha256 !== handoff.sha256) return step('written', 'it changed');
  return isOutdated(at, document.mtimeMs) ? step('written', 'the work went on') : null;
}

function whenSaved(at: At): Move {
  const { facts } = at;
  const cleared = deedOf(at, 'clear');
  if (cleared.is === 'open') return wait('the clear is under way');
  // Only the client's new session proves it.
  if (cleared.is === 'done') return facts.stepAgeMs < facts.deadlineMs ? wait('the new session') : fail('not-cleared');
  const changed = whatChanged(at);
  if (changed !== null) return changed;
  const move = again(at, cleared, { do: 'clear' });
  return move.do === 'fail' && move.reason === 'uncertain' ? fail('not-cleared') : move;
}

function whenCleared(at: At): Move {
  const { handoff, facts, session } = at;
  const resumed = deedOf(at, 'resume');
  const back = deedOf(at, 'go-back');
  if (session !== handoff.newSession) {
    return fail(session === handoff.oldSession && wasTried(back) ? 'not-confirmed' : 'session-changed');
  }
  if (resumed.is === 'done') return step('resumed');
  if (resumed.is === 'open') return wait('the resume prompt is under way');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  if (someoneElse(at, facts.fresh, 0)) return fail('taken-over');
  if (back.is !== 'none') return goBack(at);
  if (turnOf(at) !== 'over') return wait(`it is ${stateWords(at)}`);
  if (resumed.is !== 'uncertain' && !isAsStored(at)) {
    if (facts.document?.kind === 'changing' && facts.stepAgeMs < traceMs) return wait('the document');
    return timesAt(handoff, 'cleared') < 2 ? { do: 'put-back' } : goBack(at);
  }
  // It is cleared already: this prompt is not given up while the agent is there and nobody else has begun.
  const move = again({ ...at, facts: { ...facts, stepAgeMs: 0 } }, resumed, { do: 'resume' });
  return move.do === 'fail' ? goBack(at) : move;
}

/** Only what was verified is handed over, whoever has moved, changed or removed the file since. */
function isAsStored({ handoff, facts: { document } }: At): boolean {
  return document === null || (document.kind === 'ok' && document.sha256 === handoff.sha256);
}

function whenResumed(at: At): Move {
  const { handoff, facts, session } = at;
  const { fresh } = facts;
  const back = deedOf(at, 'go-back');
  if (session !== handoff.newSession) {
    return fail(session === handoff.oldSession && wasTried(back) ? 'not-confirmed' : 'session-changed');
  }
  if (fresh.readMs !== null && fresh.wentOnMs !== null) return step('confirmed');
  if (back.is !== 'none') return goBack(at);
  const resumed = deedOf(at, 'resume');
  if (resumed.is === 'done') return step('resumed', resumed.why);
  if (resumed.is === 'open') return wait('the resume prompt is under way');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  const resumedMs = lastDone(at, 'resume')?.atMs ?? 0;
  const late = facts.stepAgeMs >= facts.deadlineMs;
  if (late && someoneElse(at, fresh, resumedMs)) return fail('taken-over');
  const turn = turnOf(at);
  if (turn === 'dialog') return late ? fail('dialog') : wait('a dialog is open');
  if (turn === 'over') {
    if ((fresh.failedMs ?? 0) > resumedMs && timesAt(handoff, 'resumed') <= serviceTriesMax)
      return facts.stepAgeMs < serviceMs ? wait('the service failed') : again(at, resumed, { do: 'resume' });
    return late ? goBack(at) : wait('that it reads the document');
  }
  // It may be reading a long document, or waiting for a slow service: it gets as long again.
  if (turn === 'unclear' || facts.stepAgeMs < 2 * facts.deadlineMs) return wait('that it goes on');
  return wasTried(deedOf(at, 'interrupt')) ? wait('the end of its turn') : { do: 'interrupt' };
}

/** To the session before, by its exact id; a human is told either way. */
function goBack(at: At): Move {
  const { facts } = at;
  const back = deedOf(at, 'go-back');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  if (back.is === 'open' || back.is === 'done') {
    return facts.nowMs - back.atMs < facts.deadlineMs ? wait('the way back') : fail('not-confirmed');
  }
  if (back.is === 'refused' && isHopeless(back)) return fail('not-confirmed');
  if (back.tries >= triesMax || facts.stepAgeMs > 3 * facts.deadlineMs) return fail('not-confirmed');
  if (turnOf(at) !== 'over') return wait(`it is ${stateWords(at)}`);
  if (back.is === 'uncertain' && facts.nowMs - back.atMs < traceMs) return wait('the way back');
  return { do: 'go-back' };
}

/** A poor document is sent back once, with what is missing. */
function sendBack(at: At, asked: Deed, problems: readonly DocumentProblem[]): Move {
  const [first] = problems;
  if (at.handoff.sentBack === 0) return again(at, asked, { do: 'ask', problems });
  if (first === staleProblem) return fail('stale');
  return fail(first === fileProblems.missing ? 'no-document' : 'poor');
}

/** Written, but the work went on after it; or somebody else has said something since. */
function isOutdated(at: At, writtenMs: number): boolean {
  const { old } = at.facts;
  return (old.workedMs ?? 0) > writtenMs + slackMs || someoneElse(at, old, writtenMs);
}

/** Has anybody but us said something to it after the given time? */
function someoneElse({ facts }: At, signs: HandoffSigns, afterMs: number): boolean {
  const ours = facts.actions.flatMap(({ typed }) => /\[(wk-\w+)\]$/.exec(typed ?? '')?.[1] ?? []);
  return signs.prompts.some(({ atMs, tags }) => atMs > afterMs && !tags.some((tag) => ours.includes(tag)));
}

function timesAt(handoff: Handoff, name: string): number {
  return handoff.steps.filter((taken) => taken.step === name).length;
}

function turnOf({ agent }: At): 'over' | 'running' | 'dialog' | 'unclear' {
  switch (agent.reading.state) {
    case 'idle':
      return 'over';
    case 'waiting':
      return 'dialog';
    case 'working':
    case 'compacting':
      return 'running';
    default:
      return 'unclear';
  }
}

function stateWords({ agent }: At): string {
  const { state, detail } = agent.reading;
  return detail === null ? state : `${state}/${detail}`;
}

/** Why it has to wait while the agent is not at its prompt, and what after the deadline; null: it is there. */
function whileBusy(at: At, otherwise: HandoffFailure): Move | null {
  const { facts, agent } = at;
  const turn = turnOf(at);
  if (turn === 'over') return null;
  const { state } = agent.reading;
  const waits = wait(turn === 'dialog' ? 'a dialog is open' : `it is ${stateWords(at)}`);
  if (facts.stepAgeMs < facts.deadlineMs) return waits;
  if (turn === 'dialog') return fail('dialog');
  if (turn === 'unclear') return fail(state === 'unknown' ? 'unknown' : 'service');
  if (state === 'working' && !wasTried(deedOf(at, 'interrupt'))) return { do: 'interrupt' };
  return facts.stepAgeMs < 2 * facts.deadlineMs ? waits : fail(otherwise);
}

function whileChanging({ facts }: At): Move {
  return facts.stepAgeMs < facts.deadlineMs ? wait('the document') : fail('changing');
}

/**
 * Once more what was refused; what nobody knows of only when the agent is at its prompt and its record has shown no
 * trace of it for long enough: then it never arrived.
 */
function again({ facts }: At, before: Deed, move: Move): Move {
  if (before.is === 'none') return move;
  if (before.is === 'refused') {
    const late = facts.stepAgeMs >= 2 * facts.deadlineMs;
    return isHopeless(before) || late ? fail(before.refusal ?? 'stale') : move;
  }
  if (facts.nowMs - before.atMs < traceMs) return wait('nobody knows whether it arrived');
  return before.tries < triesMax ? move : fail('uncertain');
}

function wait(reason: string): Move {
  return { do: 'wait', reason };
}

function fail(reason: HandoffFailure): Move {
  return { do: 'fail', reason };
}

function step(to: Extract<Move, { do: 'step' }>['step'], reason: string | null = null): Move {
  return { do: 'step', step: to, reason };
}
