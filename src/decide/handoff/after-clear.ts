import { deedOf, isHopeless, lastDone, timesTried, wasTried } from './deeds.ts';
import {
  type At,
  again,
  fail,
  type HandoffFailure,
  isRecipe,
  type Move,
  serviceMs,
  serviceTriesMax,
  someoneElse,
  step,
  timesAt,
  traceMs,
  triesMax,
  turnOf,
  wait,
} from './moves.ts';

// The machine's moves once the context is cleared: there is no giving up then, only the way on or the way back.

export function whenCleared(at: At): Move {
  const { handoff, facts, session } = at;
  const resumed = deedOf(at, 'resume');
  const back = deedOf(at, 'go-back');
  if (session !== handoff.newSession) {
    // Of two clears the first came late: the later session is ours as well.
    const isOurs = session !== handoff.oldSession && timesTried(at, 'clear') > 1 && !wasTried(resumed);
    if (isOurs && timesAt(handoff, 'cleared') < 2) return { do: 'note-cleared', newSession: session };
    return fail(session === handoff.oldSession && wasTried(back) ? whyBack(at) : 'session-changed');
  }
  if (resumed.is === 'done') return step('resumed');
  if (resumed.is === 'open') return wait('resume-under-way');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  if (someoneElse(at, facts.fresh, 0)) return fail('taken-over');
  if (back.is !== 'none') return goBack(at);
  if (turnOf(at) !== 'over') return wait(`is-${at.agent.reading.state}`);
  if (resumed.is !== 'uncertain' && !isAsStored(at)) {
    if (facts.document?.kind === 'changing' && facts.stepAgeMs < traceMs) return wait('document');
    return timesAt(handoff, 'cleared') < 2 ? { do: 'put-back' } : goBack(at);
  }
  // It is cleared already: this prompt is not given up while the agent is there and nobody else has begun.
  const move = again({ ...at, facts: { ...facts, stepAgeMs: 0 } }, resumed, { do: 'resume' });
  return move.do === 'fail' ? goBack(at) : move;
}

/** Only what was stored is handed over, whoever has changed or removed the file since. */
function isAsStored({ handoff, facts: { document } }: At): boolean {
  if (document === null) return true;
  return document.kind === 'ok' && document.sha256 === handoff.sha256;
}

export function whenResumed(at: At): Move {
  const { handoff, facts, session } = at;
  const { fresh } = facts;
  const back = deedOf(at, 'go-back');
  if (session !== handoff.newSession) {
    return fail(session === handoff.oldSession && wasTried(back) ? whyBack(at) : 'session-changed');
  }
  if (fresh.readMs !== null && fresh.wentOnMs !== null) return step('confirmed');
  if (back.is !== 'none') return goBack(at);
  if (hasTakenUp(at)) return step('confirmed');
  const resumed = deedOf(at, 'resume');
  if (resumed.is === 'done') return step('resumed', resumed.why);
  if (resumed.is === 'open') return wait('resume-under-way');
  // It has its prompt; whoever took the authority away looks after the rest.
  if (facts.forbidden === 'authority') return fail('authority');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  const resumedMs = lastDone(at, 'resume')?.atMs ?? 0;
  const late = facts.stepAgeMs >= facts.deadlineMs;
  if (late && someoneElse(at, fresh, resumedMs)) return fail('taken-over');
  const turn = turnOf(at);
  if (turn === 'dialog') return late ? fail('dialog') : wait('dialog-open');
  if (turn === 'over') {
    if ((fresh.failedMs ?? 0) > resumedMs && timesAt(handoff, 'resumed') <= serviceTriesMax)
      return facts.stepAgeMs < serviceMs ? wait('service-failed') : again(at, resumed, { do: 'resume' });
    return late ? goBack(at) : wait('document-unread');
  }
  if (facts.stepAgeMs >= 4 * facts.deadlineMs) return fail('not-confirmed');
  // It may be reading a long document, or waiting for a slow service: it gets as long again.
  if (turn === 'unclear' || facts.stepAgeMs < 2 * facts.deadlineMs) return wait('not-gone-on');
  return wasTried(deedOf(at, 'interrupt')) ? wait('turn-end') : { do: 'interrupt' };
}

/** A recipe's own words may bring the file in without a call that names it: then its turn's answer has to do. */
function hasTakenUp(at: At): boolean {
  const { handoff, facts } = at;
  const { repliedMs, failedMs } = facts.fresh;
  const resumedMs = lastDone(at, 'resume')?.atMs ?? Number.POSITIVE_INFINITY;
  if (!isRecipe(handoff) || turnOf(at) !== 'over') return false;
  return (repliedMs ?? 0) > resumedMs && (facts.fresh.turnEndedMs ?? 0) > resumedMs && (failedMs ?? 0) < resumedMs;
}

/** To the session before, by its exact id; a human is told either way. */
function goBack(at: At): Move {
  const { facts } = at;
  const back = deedOf(at, 'go-back');
  if (facts.forbidden !== null) return wait(facts.forbidden);
  if (back.is === 'open' || back.is === 'done' || back.isSubmitted) {
    return back.ageMs < facts.deadlineMs ? wait('way-back') : fail(whyBack(at));
  }
  if (back.is === 'refused' && isHopeless(back)) return fail(whyBack(at));
  if (back.tries >= triesMax || facts.stepAgeMs > 3 * facts.deadlineMs) return fail(whyBack(at));
  if (turnOf(at) !== 'over') return wait(`is-${at.agent.reading.state}`);
  if (back.is === 'uncertain' && back.ageMs < traceMs) return wait('way-back');
  return { do: 'go-back' };
}

function whyBack(at: At): HandoffFailure {
  return deedOf(at, 'resume').refusal === 'unknown-command' ? 'unknown-command' : 'not-confirmed';
}
