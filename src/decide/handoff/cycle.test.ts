import { describe, expect, it } from 'vitest';
import {
  at,
  changedOften,
  clearedTwice,
  deadlineMs,
  did,
  facts,
  good,
  late,
  poor,
  t0,
  table,
  tooLate,
  type World,
  way,
} from '../../../test/runs/handoff-cases.ts';
import { nextMove, timeAtStep } from './cycle.ts';
import { fileProblems, staleProblem } from './document.ts';

describe('the straight way', () => {
  table([
    ['idle', 'requested', {}, 'ask'],
    ['the request arrived', 'requested', { actions: [did('ask', 'done', 1)] }, 'step prompted'],
    ['its turn runs', 'prompted', { state: 'working' }, 'wait: is-working'],
    ['its turn is over and the document there', 'prompted', {}, 'step written'],
    ['the document is good', 'written', {}, 'step verified'],
    ['good still', 'verified', {}, 'save'],
    ['stored, and nothing has changed', 'saved', {}, 'clear'],
    ['a new session', 'saved', { session: 'new', actions: [did('clear', 'done', 5)] }, 'cleared new'],
    ['cleared', 'cleared', {}, 'resume'],
    ['the resume prompt arrived', 'cleared', { actions: [did('resume', 'done', 6)] }, 'step resumed'],
    ['it has read nothing yet', 'resumed', { state: 'working' }, 'wait: not-gone-on'],
    ['read, and no more', 'resumed', { fresh: { readMs: t0 } }, 'wait: document-unread'],
    ['read, and went on', 'resumed', { fresh: { readMs: t0, wentOnMs: t0 + 1 } }, 'step confirmed'],
    ['confirmed', 'confirmed', {}, 'step done'],
  ]);
});

describe('nothing is cleared that is not stored, verified and unchanged', () => {
  table([
    ['the file is gone', 'saved', { document: { kind: 'missing' } }, 'step written'],
    ['it became a link', 'saved', { document: { kind: 'link' } }, 'step written'],
    ['another text', 'saved', { document: { ...good, sha256: 'other' } }, 'step written'],
    ['it is being written', 'saved', { document: { kind: 'changing' } }, 'wait: document'],
    ['not looked at', 'saved', { document: null }, 'wait: document'],
    ['it works again', 'saved', { state: 'working' }, 'wait: is-working'],
    ['a dialog', 'saved', { state: 'waiting' }, 'wait: dialog-open'],
    ['it worked after writing it', 'saved', { old: { workedMs: t0 + 9_000 } }, 'step written'],
    [
      'a person said something',
      'saved',
      { old: { prompts: [{ atMs: t0 + 9_000, tags: [], command: null }] } },
      'step written',
    ],
    ['poor by now: other work runs', 'verified', { document: poor }, 'step written'],
    ['paused', 'saved', { forbidden: 'paused' }, 'wait: paused'],
    ['watch mode', 'saved', { forbidden: 'watch-mode' }, 'wait: watch-mode'],
    ['authority lowered', 'saved', { forbidden: 'authority' }, 'fail authority'],
    ['somebody else cleared it', 'saved', { session: 'other' }, 'fail session-changed'],
    [
      'our clear was refused, and yet',
      'saved',
      { session: 'other', actions: [did('clear', 'draft', 5)] },
      'fail session-changed',
    ],
  ]);
});

describe('never two clears, never a cleared agent without its resume prompt', () => {
  table([
    [
      'the clear has no word yet',
      'saved',
      { nowMs: t0 + 5_000, actions: [did('clear', 'open', 5)] },
      'wait: clear-under-way',
    ],
    [
      'nobody knows, and it is young',
      'saved',
      { nowMs: t0 + 6_000, actions: [did('clear', 'uncertain', 5)] },
      'wait: arrival-unknown',
    ],
    [
      'nobody knows, and the session is the old one still',
      'saved',
      { actions: [did('clear', 'uncertain', 5)] },
      'clear',
    ],
    [
      'nobody knows, and a late one could still come',
      'saved',
      { nowMs: t0 + 30_000, actions: [did('clear', 'uncertain', 5)] },
      'wait: arrival-unknown',
    ],
    [
      'typed twice, and the first came late: the later session is ours too',
      'cleared',
      { session: 'newer', actions: [did('clear', 'uncertain', 5), did('clear', 'done', 5)] },
      'cleared newer',
    ],
    [
      'typed once: a session after it is somebody else’s',
      'cleared',
      { session: 'newer', actions: [did('clear', 'done', 5)] },
      'fail session-changed',
    ],
    [
      'nobody knows, and the session is new',
      'saved',
      { session: 'new', actions: [did('clear', 'uncertain', 5)] },
      'cleared new',
    ],
    [
      'killed in the middle, and the session is new',
      'saved',
      { session: 'new', actions: [did('clear', 'open', 5)] },
      'cleared new',
    ],
    [
      'twice nobody knows',
      'saved',
      { actions: [did('clear', 'uncertain', 5), did('clear', 'uncertain', 5)] },
      'fail not-cleared',
    ],
    [
      'submitted, and no new session yet',
      'saved',
      { actions: [did('clear', 'unproved', 5)], nowMs: t0 + 60_000 },
      'wait: arrival-unknown',
    ],
    [
      'submitted for long, and no new session',
      'saved',
      { actions: [did('clear', 'unproved', 5)], nowMs: t0 + 3_600_000 },
      'fail not-cleared',
    ],
    ['a draft in the box', 'saved', { actions: [did('clear', 'draft', 5)] }, 'clear'],
    ['a draft for long', 'saved', { ageMs: tooLate, actions: [did('clear', 'draft', 5)] }, 'fail draft'],
    ['the resume is refused for long', 'cleared', { ageMs: tooLate, actions: [did('resume', 'draft', 6)] }, 'resume'],
    ['paused meanwhile', 'cleared', { forbidden: 'paused' }, 'wait: paused'],
    ['nobody knows whether the resume arrived', 'cleared', { actions: [did('resume', 'uncertain', 6)] }, 'resume'],
    [
      'the resume was submitted, and its record takes its time',
      'cleared',
      { actions: [did('resume', 'unproved', 6)], nowMs: t0 + 60_000 },
      'wait: arrival-unknown',
    ],
    [
      'the resume was submitted long ago: never twice, but back',
      'cleared',
      { actions: [did('resume', 'unproved', 6)], nowMs: t0 + 3_600_000 },
      'go-back',
    ],
    ['proved late', 'cleared', { actions: [did('resume', 'late', 6)] }, 'step resumed'],
    [
      'somebody else is there first',
      'cleared',
      { fresh: { prompts: [{ atMs: t0 + 7_000, tags: [], command: null }] } },
      'fail taken-over',
    ],
    ['it cannot be said at all', 'cleared', { actions: [did('resume', 'unsafe', 6)] }, 'go-back'],
    ['proved late', 'written', { session: 'new', actions: [did('clear', 'open', 5)] }, 'cleared new', { sha256: 'x' }],
    ['cleared again by hand', 'cleared', { session: 'third' }, 'fail session-changed'],
    ['the document is gone', 'cleared', { document: { kind: 'missing' } }, 'put-back'],
    ['the document is another one', 'cleared', { document: { ...good, sha256: 'other' } }, 'put-back'],
    ['gone again', 'cleared', { document: { kind: 'missing' } }, 'go-back', clearedTwice],
  ]);
});

describe('waiting for the turn, and no longer than the deadline', () => {
  table([
    ['at work', 'requested', { state: 'working' }, 'wait: is-working'],
    ['at work past the deadline', 'requested', { state: 'working', ageMs: late }, 'interrupt'],
    [
      'interrupted already',
      'requested',
      { state: 'working', ageMs: late, actions: [did('interrupt', 'done', 1)] },
      'wait: is-working',
    ],
    [
      'interrupted, and for long',
      'requested',
      { state: 'working', ageMs: tooLate, actions: [did('interrupt', 'done', 1)] },
      'fail busy',
    ],
    [
      'the interrupt was refused',
      'requested',
      { state: 'working', ageMs: late, actions: [did('interrupt', 'draft', 1)] },
      'interrupt',
    ],
    [
      'the interrupt was refused, and for long',
      'requested',
      { state: 'working', ageMs: 3 * deadlineMs - 1, actions: [did('interrupt', 'draft', 1)] },
      'interrupt',
    ],
    [
      'the interrupt was refused all the time',
      'requested',
      { state: 'working', ageMs: 3 * deadlineMs, actions: [did('interrupt', 'draft', 1)] },
      'fail busy',
    ],
    [
      'and while it writes',
      'prompted',
      { state: 'working', ageMs: 3 * deadlineMs, actions: [did('interrupt', 'draft', 2)] },
      'fail no-document',
    ],
    ['compacting is not interrupted', 'requested', { state: 'compacting', ageMs: late }, 'wait: is-compacting'],
    ['a dialog', 'requested', { state: 'waiting', ageMs: late - 2 }, 'wait: dialog-open'],
    ['a dialog past the deadline', 'requested', { state: 'waiting', ageMs: late }, 'fail dialog'],
    ['unknown never acts', 'requested', { state: 'unknown', ageMs: late }, 'fail unknown'],
    ['a limit', 'requested', { state: 'limited' }, 'wait: is-limited'],
    ['background work', 'requested', { background: ['b1'] }, 'wait: background-work'],
    ['background work for long', 'requested', { background: ['b1'], ageMs: late }, 'ask'],
    ['others first', 'requested', { hasPlace: false }, 'wait: others-first'],
    [
      'the request has no word yet',
      'requested',
      { nowMs: t0 + 2_000, actions: [did('ask', 'open', 1)] },
      'wait: request-under-way',
    ],
    ['a person types', 'requested', { actions: [did('ask', 'draft', 1)] }, 'ask'],
    ['it cannot be said', 'requested', { actions: [did('ask', 'unsafe', 1)] }, 'fail unsafe-text'],
    [
      'nobody knows, twice',
      'requested',
      { actions: [did('ask', 'uncertain', 1), did('ask', 'uncertain', 1)] },
      'fail uncertain',
    ],
    [
      'submitted, and its record takes its time',
      'requested',
      { actions: [did('ask', 'unproved', 1)], nowMs: t0 + 60_000 },
      'wait: arrival-unknown',
    ],
    [
      'submitted long ago: never twice',
      'requested',
      { actions: [did('ask', 'unproved', 1)], nowMs: t0 + 3_600_000 },
      'fail uncertain',
    ],
    ['writing past the deadline', 'prompted', { state: 'working', ageMs: late }, 'interrupt'],
    ['a dialog while writing', 'prompted', { state: 'waiting', ageMs: late }, 'fail dialog'],
    ['the end of the turn is not on record yet', 'prompted', { old: { turnEndedMs: null } }, 'wait: turn-end'],
    [
      'the turn before it has just ended, and its own has not begun',
      'prompted',
      { document: { kind: 'missing' }, old: { prompts: [] } },
      'wait: request-turn',
    ],
    [
      'its record never shows the request',
      'prompted',
      { document: { kind: 'missing' }, old: { prompts: [] }, ageMs: 20_000 },
      `ask again: ${fileProblems.missing.words}`,
    ],
    ['nor after long', 'prompted', { old: { turnEndedMs: null }, ageMs: 20_000 }, 'step written'],
  ]);
});

describe('a document that is not good is sent back once', () => {
  table([
    ['none', 'prompted', { document: { kind: 'missing' } }, `ask again: ${fileProblems.missing.words}`],
    ['none, twice', 'prompted', { document: { kind: 'missing' } }, 'fail no-document', { sentBack: 1 }],
    ['a link', 'prompted', { document: { kind: 'link' } }, `ask again: ${fileProblems.link.words}`],
    ['a link, twice', 'prompted', { document: { kind: 'link' } }, 'fail poor', { sentBack: 1 }],
    ['last week', 'prompted', { document: { kind: 'old' } }, `ask again: ${fileProblems.old.words}`],
    ['poor', 'written', { document: poor }, 'ask again: the nonce is not in it'],
    ['poor, twice', 'written', { document: poor }, 'fail poor', { sentBack: 1 }],
    ['it went on working', 'written', { old: { workedMs: t0 + 9_000 } }, `ask again: ${staleProblem.words}`],
    ['it went on, twice', 'written', { old: { workedMs: t0 + 9_000 } }, 'fail stale', { sentBack: 1 }],
    ['asked again', 'written', { actions: [did('ask', 'done', 3, 'why')] }, 'step prompted'],
    [
      'another one each time it is looked at',
      'saved',
      { document: { ...good, sha256: 'other' } },
      'fail changing',
      { steps: changedOften() },
    ],
    ['it is never done', 'prompted', { document: { kind: 'changing' }, ageMs: late }, 'fail changing'],
    [
      'the service failed',
      'prompted',
      { document: { kind: 'missing' }, old: { failedMs: t0 + 9_000 } },
      'wait: service-failed',
    ],
    [
      'then it is asked anew',
      'prompted',
      { document: { kind: 'missing' }, old: { failedMs: t0 + 9_000 }, ageMs: 40_000 },
      'ask',
    ],
  ]);
});

describe('a fresh context that does not take it up goes back to the old one', () => {
  const wentBack = [did('go-back', 'done', 7)];
  table([
    ['idle past the deadline', 'resumed', { ageMs: late }, 'go-back'],
    ['at work past the deadline', 'resumed', { state: 'working', ageMs: late }, 'wait: not-gone-on'],
    ['at work for long', 'resumed', { state: 'working', ageMs: tooLate }, 'interrupt'],
    [
      'at work, and the interrupt was refused all the time',
      'resumed',
      { state: 'working', ageMs: 4 * deadlineMs, actions: [did('interrupt', 'draft', 7)] },
      'fail not-confirmed',
    ],
    [
      'somebody else works there',
      'resumed',
      { ageMs: late, fresh: { prompts: [{ atMs: t0 + 50_000, tags: [], command: null }] } },
      'fail taken-over',
    ],
    [
      'our own prompt is nobody else',
      'resumed',
      { ageMs: late, fresh: { prompts: [{ atMs: t0 + 50_000, tags: ['wk-resume6'], command: null }] } },
      'go-back',
    ],
    ['back', 'resumed', { ageMs: late, session: 'old', actions: wentBack }, 'fail not-confirmed'],
    ['back by hand', 'resumed', { session: 'old' }, 'fail session-changed'],
    [
      'on the way back',
      'resumed',
      { ageMs: late, nowMs: t0 + 8_000, actions: [did('go-back', 'open', 7)] },
      'wait: way-back',
    ],
    [
      'it could not go back',
      'resumed',
      { ageMs: late, actions: [did('go-back', 'uncertain', 7), did('go-back', 'uncertain', 7)] },
      'fail not-confirmed',
    ],
    [
      'read after all, on the way back',
      'resumed',
      { ageMs: late, fresh: { readMs: t0, wentOnMs: t0 + 1 }, actions: [did('go-back', 'draft', 7)] },
      'step confirmed',
    ],
    ['a dialog', 'resumed', { state: 'waiting', ageMs: late }, 'fail dialog'],
    ['the authority is taken away', 'resumed', { forbidden: 'authority' }, 'fail authority'],
    ['a pause', 'resumed', { forbidden: 'paused', ageMs: late }, 'wait: paused'],
    ['the service failed', 'resumed', { fresh: { failedMs: t0 + 9_000 }, ageMs: 40_000 }, 'resume'],
  ]);
});

describe('the agent, its session or its context change by themselves', () => {
  it.each(way.filter((step) => step !== 'done'))('it ends: the handoff is over (%s)', (step) => {
    const handoff = at(step);
    expect(nextMove(handoff, facts(handoff, { state: 'ended' }))).toEqual({ do: 'fail', reason: 'ended' });
    expect(nextMove(handoff, facts(handoff, { gone: true }))).toEqual({ do: 'fail', reason: 'ended' });
  });

  it.each(way.slice(0, 7))('its session changes by hand: nothing more is typed (%s)', (step) => {
    const handoff = at(step);
    expect(nextMove(handoff, facts(handoff, { session: 'third' }))).toEqual({ do: 'fail', reason: 'session-changed' });
  });

  it.each(way.slice(0, 7))('its session is not known: nothing is typed (%s)', (step) => {
    const handoff = at(step);
    expect(nextMove(handoff, facts(handoff, { session: null })).do).toBe('wait');
  });

  table([
    ['compacted before it was asked', 'requested', { old: { compactedMs: t0 + 1 } }, 'fail compacted'],
    ['compacted, and a person wants it', 'requested', { old: { compactedMs: t0 + 1 } }, 'ask', { trigger: 'human' }],
    ['compacted after it was asked', 'prompted', { old: { compactedMs: t0 + 9_000 } }, 'step written'],
    ['compacted long before', 'requested', { old: { compactedMs: t0 - 1 } }, 'ask'],
  ]);
});

describe('time that does not count', () => {
  it.each<[string, World, string]>([
    ['paused', { forbidden: 'paused' }, 'stands'],
    ['a limit', { state: 'limited' }, 'anew'],
    ['others first', { hasPlace: false }, 'stands'],
    ['at work', { state: 'working' }, 'counts'],
  ])('%s', (_name, world, time) => {
    const handoff = at('requested');
    expect(timeAtStep(handoff, facts(handoff, world))).toBe(time);
  });
});

describe('a recipe', () => {
  const tina = { recipe: 'tina' };
  const unknown = { outcome: 'refused', reason: 'unknown-command' };
  const asked = { ...did('ask', 'open', 1), typed: '/tina:checkpoint', outcomes: [unknown] };
  const resumed = { ...did('resume', 'open', 6), typed: '/tina:rehydrate', outcomes: [unknown] };
  const answered = { repliedMs: t0 + 7_000, turnEndedMs: t0 + 7_000 };
  table([
    ['the client does not know its command', 'requested', { actions: [asked] }, 'fail unknown-command', tina],
    ['nor the one that resumes', 'cleared', { actions: [resumed] }, 'go-back', tina],
    [
      'and is back then',
      'cleared',
      { session: 'old', actions: [resumed, did('go-back', 'done', 6)] },
      'fail unknown-command',
      tina,
    ],
    ['its file is gone after the clear', 'cleared', { document: { kind: 'missing' } }, 'put-back', tina],
    ['goes on in its own turn', 'written', { old: { workedMs: t0 + 9_000 } }, 'step verified', tina],
    [
      'works in a turn of the client after it',
      'written',
      { old: { clientTurnMs: t0 + 8_000, workedMs: t0 + 9_000 } },
      `ask again: ${staleProblem.words}`,
      tina,
    ],
    ['has answered to its resume', 'resumed', { fresh: answered }, 'step confirmed', tina],
    ['our document has to be read', 'resumed', { fresh: answered }, 'wait: document-unread'],
    ['its turn has not ended', 'resumed', { fresh: answered, state: 'working' }, 'wait: not-gone-on', tina],
    ['the service failed', 'resumed', { fresh: { ...answered, failedMs: t0 + 7_000 } }, 'wait: service-failed', tina],
  ]);
});
