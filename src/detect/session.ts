import type { BackgroundWork, TurnEnd } from '../model/agent.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { CallWords, SessionEvent, TokenUsage } from '../model/session-event.ts';
import type { SpawnEnd, SpawnedWork } from '../model/spawn.ts';
import { areAsides } from '../model/tag.ts';
import { isEmpty, type UntrustedText, untrusted } from '../model/text.ts';
import { refusalOf } from './refusals.ts';
import { endOf, spawnsKeptMax, workOf } from './spawned.ts';

interface OpenCall {
  tool: string;
  sinceMs: number;
  about: CallWords | null;
  asks: UntrustedText | null;
}

/** What the client's own record of a session has said so far, folded into what still matters. */
export interface SessionFacts {
  turn: 'none' | 'open' | 'closed';
  turnSinceMs: number | null;
  /** Tool calls without a result yet, by id. Also true of a call that waits for a permission. */
  calls: Map<string, OpenCall>;
  lastTurn: TurnEnd | null;
  lastTurnAtMs: number | null;
  error: UntrustedText | null;
  /** The client's own word for the kind of error. */
  errorKind: string | null;
  errorAtMs: number | null;
  limitResetsAtMs: number | null;
  /** The work was given up after an error, and no turn that took it up again has ended well since. */
  stopped: { sinceMs: number; error: UntrustedText; errorKind: string } | null;
  /** Nothing was said in this turn but what we ask for beside the work. */
  isAside: boolean;
  /** A request is tried again: until then it waits. `times`: how often in a row it was refused with a status of this kind. */
  retry: { status: number | null; times: number; sinceMs: number; untilMs: number } | null;
  /** The last request to the model, and how often it went out without a reply. */
  request: { digest: string; atMs: number; attempts: number } | null;
  /** The last request ever seen: null in versions that do not record them. */
  lastRequestMs: number | null;
  compactedAtMs: number | null;
  background: Map<string, BackgroundWork>;
  /** All work that was started and the ends that were told, the newest last. */
  spawned: Map<string, SpawnedWork<UntrustedText>>;
  spawnEnds: Map<string, SpawnEnd<UntrustedText>>;
  model: string | null;
  contextUsed: number | null;
  contextAtMs: number | null;
  costUsd: number | null;
  lastActivityMs: number | null;
  /** When the model was last at work: a reply or a tool result. The turn's thinking goes on from here. */
  lastStepMs: number | null;
}

const callsMax = 1_000;
const backgroundMax = 1_000;

export function newSession(): SessionFacts {
  return {
    turn: 'none',
    turnSinceMs: null,
    calls: new Map(),
    lastTurn: null,
    lastTurnAtMs: null,
    error: null,
    errorKind: null,
    errorAtMs: null,
    limitResetsAtMs: null,
    stopped: null,
    isAside: false,
    retry: null,
    request: null,
    lastRequestMs: null,
    compactedAtMs: null,
    background: new Map(),
    spawned: new Map(),
    spawnEnds: new Map(),
    model: null,
    contextUsed: null,
    contextAtMs: null,
    costUsd: null,
    lastActivityMs: null,
    lastStepMs: null,
  };
}

/** Takes one event in. The facts are changed in place: a long session has a hundred thousand of them. */
export function takeEvent(facts: SessionFacts, event: SessionEvent): void {
  const { fact, atMs } = event;
  // What somebody puts into the queue is no sign of life of the agent.
  if (fact.kind !== 'cost' && fact.kind !== 'queued') facts.lastActivityMs = Math.max(facts.lastActivityMs ?? 0, atMs);
  switch (fact.kind) {
    case 'prompt':
      if (fact.origin !== 'mid-turn') openTurn(facts, atMs);
      // Who joins the turn of a note makes it a turn of their own.
      facts.isAside = areAsides(fact.tags) && (facts.isAside || fact.origin !== 'mid-turn');
      return;
    case 'request': {
      const again = facts.request?.digest === fact.digest;
      facts.request = { digest: fact.digest, atMs, attempts: again ? (facts.request?.attempts ?? 0) + 1 : 1 };
      facts.lastRequestMs = atMs;
      return;
    }
    case 'reply':
      takeReply(facts, fact.model, fact.usage, atMs);
      // Not every version records the turn's end itself. If a stop hook sends the model back, its next word reopens the turn.
      if (fact.ends) closeTurn(facts, 'ok', atMs);
      return;
    case 'tool-call':
      reopen(facts, atMs);
      if (facts.calls.size < callsMax) {
        facts.calls.set(fact.id, { tool: fact.tool, sinceMs: atMs, about: fact.about, asks: fact.asks ?? null });
      }
      return;
    case 'tool-result':
      if (fact.started !== null) {
        const { id, kind } = fact.started;
        if (facts.background.size < backgroundMax) facts.background.set(id, { id, kind, sinceMs: atMs, tool: null });
        keepNewest(
          facts.spawned,
          id,
          workOf(fact.started, facts.calls.get(fact.id)?.about ?? null, atMs),
          spawnsKeptMax,
        );
        // The same subagent can be sent on after its end.
        facts.spawnEnds.delete(id);
      }
      facts.calls.delete(fact.id);
      facts.lastStepMs = atMs;
      return;
    case 'background-ended':
      facts.background.delete(fact.id);
      // Told twice, when the note is queued and when it is read: the first time counts.
      if (!facts.spawnEnds.has(fact.id))
        keepNewest(facts.spawnEnds, fact.id, endOf(fact.status, fact.text, atMs), spawnsKeptMax);
      return;
    case 'turn-end':
      // A failed or interrupted turn has its end recorded as well: the first word on it stands.
      if (facts.turn === 'open') closeTurn(facts, 'ok', atMs);
      return;
    case 'api-error':
      closeTurn(facts, 'failed', atMs);
      facts.error = isEmpty(fact.text) ? untrusted(fact.error) : fact.text;
      facts.errorKind = fact.error;
      facts.errorAtMs = atMs;
      facts.limitResetsAtMs = fact.resetsAtMs;
      facts.stopped = { sinceMs: atMs, error: facts.error, errorKind: fact.error };
      return;
    case 'interrupted':
      closeTurn(facts, 'interrupted', atMs);
      return;
    case 'retry':
      facts.retry = tryAgain(facts.retry, fact, atMs);
      return;
    case 'compacted':
      // Calls from before never get their results.
      facts.calls.clear();
      facts.compactedAtMs = atMs;
      if (fact.tokensAfter !== null) {
        facts.contextUsed = fact.tokensAfter;
        facts.contextAtMs = atMs;
      }
      return;
    case 'cost':
      facts.costUsd = fact.usd;
      return;
    case 'command':
    case 'unknown-command':
    case 'queued':
    case 'progress':
      return;
  }
}

function tryAgain(
  before: SessionFacts['retry'],
  { status, untilMs }: { status: number | null; untilMs: number },
  atMs: number,
): SessionFacts['retry'] {
  const isSame = before !== null && refusalOf(status) === refusalOf(before.status);
  return { status, untilMs, times: isSame ? before.times + 1 : 1, sinceMs: isSame ? before.sinceMs : atMs };
}

function takeReply(facts: SessionFacts, model: string, usage: TokenUsage | null, atMs: number): void {
  reopen(facts, atMs);
  facts.lastStepMs = atMs;
  facts.retry = null;
  facts.request = null;
  facts.model = model;
  const used = usage === null ? 0 : usage.input + usage.cacheRead + usage.cacheCreate;
  if (used > 0) {
    facts.contextUsed = used;
    facts.contextAtMs = atMs;
  }
}

function openTurn(facts: SessionFacts, atMs: number): void {
  facts.turn = 'open';
  facts.turnSinceMs = atMs;
  facts.lastStepMs = atMs;
  facts.error = null;
  facts.errorAtMs = null;
  facts.limitResetsAtMs = null;
  facts.retry = null;
  // The file may hold a request before the prompt that caused it; only an older one belongs to the turn before.
  if (facts.request !== null && facts.request.atMs < atMs) facts.request = null;
  // A new prompt means the turn before is over, whatever results it still owed.
  facts.calls.clear();
}

/** The model went on after an end: a stop hook sent it back, or a task reported. */
function reopen(facts: SessionFacts, atMs: number): void {
  if (facts.turn === 'open') return;
  facts.turn = 'open';
  facts.turnSinceMs = atMs;
  facts.error = null;
  facts.errorAtMs = null;
}

function closeTurn(facts: SessionFacts, end: TurnEnd, atMs: number): void {
  facts.turn = 'closed';
  facts.calls.clear();
  facts.lastTurn = end;
  facts.lastTurnAtMs = atMs;
  facts.retry = null;
  facts.request = null;
  if (end === 'failed') return;
  facts.error = null;
  facts.errorAtMs = null;
  facts.limitResetsAtMs = null;
  // Who interrupts it has taken over.
  if (end === 'interrupted' || !facts.isAside) facts.stopped = null;
}
