import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivered, Proof } from '../act/deliver.ts';
import type { Config } from '../config/schema.ts';
import { parseContextAnswer } from '../decide/context-answer.ts';
import { tagged, whyUnsafe } from '../decide/prompt-text.ts';
import type { Action, PromptOutcome, Refusal, Trigger } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Store } from '../model/store.ts';
import { tagOf } from '../model/tag.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';
import type { HeardHook } from '../watch/agent-inbox.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import type { Typist } from './typist.ts';

export interface PromptRequest {
  agent: string;
  text: string;
  trigger: Trigger;
  finding: string | null;
  /** It asks for something beside the agent's work. */
  isAside?: boolean;
  /** How long to wait for a moment that fits, and then for the answer. */
  waitMs: number;
  /** What it is for, where it is a part of something larger: stands in the intent. */
  about?: { [key: string]: Json };
  /** Texts of earlier tries that may still be in the box. */
  leftovers?: readonly string[];
  /** A refusal that is on record already and need not be written again. */
  quietAbout?: string | null;
  /** Asked once more when everything else is ready: is what it is about still so? */
  isStillDue?: () => boolean;
}

export interface PromptResult {
  id: string;
  tag: string;
  agent: string;
  outcome: PromptOutcome;
  reason: string | null;
  proof: Proof['source'] | null;
  proof_ms: number | null;
  answer: Answer | null;
}

interface Answer {
  text: string;
  ms: number;
}

interface Expected {
  action: Action;
  tag: string;
  /** The client's record of the tag, once it is there; also when nobody waits for it at that moment. */
  proof: Proof | null;
  proved: ((proof: Proof) => void) | null;
  isBeingTyped: boolean;
  /** A turn was running when it was typed. */
  typedToBusy: boolean;
  /** The ledger says that nobody knows; a proof that comes later is written too. */
  uncertain: boolean;
  /** The tag has been seen in a turn of its own: what the model says now is the answer. */
  turnSinceMs: number | null;
  /** The model has begun to do something about it. */
  reacted: boolean;
  said: string;
  /** null: the turn ended without one. */
  answer: Promise<Answer | null>;
  answered(answer: Answer | null): void;
  /** The ledger has the delivery's outcome; what came of it is written after. */
  concluded: Promise<void>;
  conclude(): void;
}

export interface PrompterParts {
  host: string;
  store: Store;
  clock: Clock;
  typist: Typist;
  config: () => Config;
  /** Rows that the ledger points at have to be there first. */
  flush: () => Promise<boolean>;
  lookSoon: (agent: string) => void;
  agent: (name: string) => WatchedAgent | null;
}

const proofMs = 8_000;
/** A person's deferred prompt looks for a fitting moment this often. */
const retryMs = 500;
const expectedMax = 1_000;
/** These pass by themselves. */
const passing: readonly (string | null)[] = ['human-typing', 'draft', 'pane-mode'];

/** Prompts, from the request to the ledger's last word. One at a time for each agent. */
export class Prompter {
  readonly #parts: PrompterParts;
  readonly #expected = new Map<string, Expected>();
  /** Prompts that began a turn and were reacted to, and how many of them in time. */
  readonly #reactions = { total: 0, inTime: 0 };
  /** Answers that somebody waits for, by action. */
  readonly #answers = new Map<string, Promise<Answer | null>>();

  constructor(parts: PrompterParts) {
    this.#parts = parts;
  }

  /** Actions an earlier run left without an outcome: their truth is looked for, they are never typed again. */
  async recover(only: ReadonlySet<string> | null = null): Promise<boolean> {
    const open = await this.#parts.store.openActions(this.#parts.host);
    if (!open.ok) return false;
    for (const { action, delivered } of open.value) {
      if (this.#expected.has(action.id) || (only !== null && !only.has(action.agent ?? ''))) continue;
      const tag = typeof action.intent.tag === 'string' ? action.intent.tag : null;
      if (tag === null) {
        if (!delivered) await this.#conclude(action, 'uncertain', 'daemon-restarted', null);
        continue;
      }
      const expected = this.#expect(action, tag);
      if (delivered) expected.conclude();
      else void this.#settle(expected);
    }
    return true;
  }

  async #settle(expected: Expected): Promise<void> {
    const proof = await this.#waitForProof(expected, proofMs);
    expected.uncertain = proof === null;
    await this.#conclude(expected.action, proof === null ? 'uncertain' : outcomeOf(proof), 'daemon-restarted', proof);
    expected.conclude();
  }

  /** Who wanted the prompt with this tag; null: it is over, or an earlier run's. */
  promptedBy(tag: string): { trigger: Trigger; findings: readonly string[] } | null {
    for (const { action, tag: own } of this.#expected.values()) {
      if (own === tag) return { trigger: action.trigger, findings: findingsOf(action) };
    }
    return null;
  }

  get reactions(): { total: number; inTime: number } {
    return { ...this.#reactions };
  }

  /** Since when a prompt has been waiting for any reaction of this agent. */
  unansweredSince(agent: string): number | null {
    for (const expected of this.#expected.values()) {
      if (expected.action.agent === agent && expected.turnSinceMs !== null && !expected.reacted)
        return expected.turnSinceMs;
    }
    return null;
  }

  /** Everything the agents' own records say passes here. */
  told(agent: string, event: SessionEvent): void {
    const { fact, atMs } = event;
    if (fact.kind === 'prompt' || fact.kind === 'queued') {
      for (const expected of this.#expected.values()) {
        if (expected.action.agent !== agent || atMs < expected.action.atMs - 2_000) continue;
        const queued = fact.kind === 'queued';
        // While it compacts, the client records that it queued something, but not what. The tag follows later.
        const nameless = queued && fact.chars === 0 && expected.isBeingTyped && atMs >= expected.action.atMs;
        if (!nameless && !fact.tags.includes(expected.tag)) continue;
        this.#prove(expected, { queued, source: 'transcript', nameless, atMs });
        if (!queued) expected.turnSinceMs = atMs;
      }
      return;
    }
    for (const expected of this.#expected.values()) {
      if (expected.action.agent === agent && expected.turnSinceMs !== null) this.#takeAnswer(expected, event);
    }
  }

  /** The hook says the same sooner; it runs also when the prompt is only queued. */
  hooked(agent: string, { hook, atMs }: HeardHook): void {
    if (hook.fact.kind !== 'prompt' || hook.subagent !== null) return;
    for (const expected of this.#expected.values()) {
      if (expected.action.agent !== agent || !hook.fact.tags.includes(expected.tag)) continue;
      this.#prove(expected, { queued: expected.typedToBusy, source: 'hook', nameless: false, atMs });
    }
  }

  #prove(expected: Expected, proof: Proof): void {
    expected.proof ??= proof;
    expected.proved?.(proof);
    expected.proved = null;
    if (!expected.uncertain) return;
    expected.uncertain = false;
    void expected.concluded.then(() => this.#conclude(expected.action, outcomeOf(proof), 'proved-late', proof));
  }

  async prompt(request: PromptRequest): Promise<PromptResult> {
    const result = await this.#parts.typist.inTurn(request.agent, () => this.#promptWhenFit(request));
    const answer = this.#answers.get(result.id);
    this.#answers.delete(result.id);
    if (answer === undefined) return result;
    return { ...result, answer: await Promise.race([answer, sleep(request.waitMs, null, { ref: false })]) };
  }

  async #promptWhenFit(request: PromptRequest): Promise<PromptResult> {
    const endMs = this.#parts.clock.monotonicMs() + request.waitMs;
    for (;;) {
      const result = await this.#promptOnce(request);
      const left = endMs - this.#parts.clock.monotonicMs();
      if (result.outcome !== 'refused' || !passing.includes(result.reason) || request.waitMs === 0) return result;
      if (left <= 0) return { ...result, outcome: 'deferred' };
      await sleep(Math.min(retryMs, left));
    }
  }

  async #promptOnce(request: PromptRequest): Promise<PromptResult> {
    const tag = tagOf(randomBytes(2).toString('hex'), request.isAside === true);
    const action: Action = {
      id: randomUUID(),
      atMs: this.#parts.clock.nowMs(),
      agent: request.agent,
      kind: 'prompt',
      trigger: request.trigger,
      intent: { text: shown(request.text, 4_000), tag, ...request.about },
      finding: request.finding,
    };
    const result = (outcome: PromptOutcome, reason: string | null): PromptResult => ({
      id: action.id,
      tag,
      agent: request.agent,
      outcome,
      reason,
      proof: null,
      proof_ms: null,
      answer: null,
    });
    const known = request.quietAbout ?? null;
    if (known !== null && (await this.#peek(request)) === known) return result('refused', known);
    await this.#parts.flush();
    const intended = await this.#parts.store.intend(this.#parts.host, action);
    if (!intended.ok) return result('refused', 'no-ledger');
    const refusal = this.#whyRefused(request);
    if (refusal !== null) {
      await this.#conclude(action, 'refused', refusal, null);
      return result('refused', refusal);
    }
    const expected = this.#expect(action, tag);
    expected.isBeingTyped = true;
    expected.typedToBusy = this.#parts.agent(request.agent)?.view?.reading.state !== 'idle';
    const delivered = await this.#deliver(request, expected);
    expected.isBeingTyped = false;
    expected.uncertain = delivered.outcome === 'uncertain';
    await this.#conclude(action, delivered.outcome, delivered.reason, delivered.proof, delivered);
    expected.conclude();
    if (delivered.proof === null) {
      if (delivered.outcome === 'refused') this.#expected.delete(action.id);
      return result(delivered.outcome, delivered.reason);
    }
    if (request.waitMs > 0) this.#answers.set(action.id, expected.answer);
    return { ...result(delivered.outcome, null), proof: delivered.proof.source, proof_ms: delivered.proofMs };
  }

  /** Would it be refused now? Nothing is typed and nothing written. */
  async #peek(request: PromptRequest): Promise<Refusal | null> {
    return this.#whyRefused(request) ?? (await this.#parts.typist.whyNotNow(request.agent));
  }

  #whyRefused(request: PromptRequest): Refusal | null {
    const { typist } = this.#parts;
    const refusal = typist.whyNotAllowed(request.agent, 'nudge');
    if (refusal !== null) return refusal;
    if (request.isStillDue?.() === false) return 'stale';
    return whyUnsafe(request.text, typist.hasShellBeneath(request.agent)) === null ? null : 'unsafe-text';
  }

  #deliver(request: PromptRequest, expected: Expected): Promise<Delivered> {
    const { tag } = expected;
    const leftovers = request.leftovers ?? [];
    const delivery = { text: tagged(request.text, tag), mark: `[${tag}]`, tag, proofMs, leftovers };
    return this.#parts.typist.type(request.agent, delivery, (timeoutMs) => this.#waitForProof(expected, timeoutMs));
  }

  #expect(action: Action, tag: string): Expected {
    let answered: Expected['answered'] = () => {};
    let conclude: Expected['conclude'] = () => {};
    const concluded = new Promise<void>((resolve) => {
      conclude = resolve;
    });
    const answer = new Promise<Answer | null>((resolve) => {
      answered = resolve;
    });
    const expected: Expected = {
      action,
      tag,
      proof: null,
      proved: null,
      isBeingTyped: false,
      typedToBusy: false,
      uncertain: false,
      turnSinceMs: null,
      reacted: false,
      said: '',
      answer,
      answered,
      concluded,
      conclude,
    };
    this.#expected.set(action.id, expected);
    const oldest = this.#expected.keys().next().value;
    if (this.#expected.size > expectedMax && oldest !== undefined) this.#expected.delete(oldest);
    return expected;
  }

  #waitForProof(expected: Expected, timeoutMs: number): Promise<Proof | null> {
    if (expected.proof !== null) return Promise.resolve(expected.proof);
    if (expected.action.agent !== null) this.#parts.lookSoon(expected.action.agent);
    return new Promise((resolve) => {
      // A stopping daemon does not wait for a proof: the next one looks for it.
      const timer = setTimeout(() => resolve(null), timeoutMs).unref();
      expected.proved = (proof) => {
        clearTimeout(timer);
        resolve(proof);
      };
    });
  }

  /** The answer is what the model says last in the turn the prompt began. An error is no answer. */
  #takeAnswer(expected: Expected, event: SessionEvent): void {
    const { fact, atMs } = event;
    const sinceMs = expected.turnSinceMs ?? atMs;
    if (!expected.reacted && (fact.kind === 'reply' || fact.kind === 'tool-call' || fact.kind === 'api-error')) {
      expected.reacted = true;
      this.#reactions.total += 1;
      if (atMs - sinceMs <= this.#parts.config().prompt.answerSeconds * 1000) this.#reactions.inTime += 1;
    }
    if (fact.kind === 'reply' && fact.text !== '') expected.said = fact.text;
    const over = (fact.kind === 'reply' && fact.ends) || fact.kind === 'turn-end';
    if (over && expected.said !== '') {
      const answer = { text: shown(expected.said, 4_000), ms: Math.max(0, atMs - sinceMs) };
      this.#finish(expected, 'answered', null, answer);
    } else if (fact.kind === 'api-error') this.#finish(expected, 'failed-by-service', shown(fact.error, 200), null);
    else if (fact.kind === 'interrupted') this.#finish(expected, 'interrupted', null, null);
  }

  #finish(expected: Expected, outcome: string, reason: string | null, answer: Answer | null): void {
    this.#expected.delete(expected.action.id);
    const context = answer === null ? null : parseContextAnswer(answer.text);
    const proof =
      answer === null
        ? null
        : { answer: answer.text, answer_ms: answer.ms, context: context === null ? null : { ...context } };
    const row = { actionId: expected.action.id, atMs: this.#parts.clock.nowMs(), outcome, reason, proof };
    void expected.concluded.then(() => this.#parts.store.conclude(row));
    expected.answered(answer);
  }

  async #conclude(
    action: Action,
    outcome: string,
    reason: string | null,
    proof: Proof | null,
    delivered: Delivered | null = null,
  ): Promise<void> {
    await this.#parts.store.conclude({
      actionId: action.id,
      atMs: this.#parts.clock.nowMs(),
      outcome,
      reason,
      proof:
        proof === null
          ? null
          : {
              source: proof.source,
              nameless: proof.nameless,
              at: new Date(proof.atMs).toISOString(),
              proof_ms: delivered?.proofMs ?? null,
              draft_restored: delivered?.draftRestored ?? null,
            },
    });
  }
}

/** One prompt may be about several. */
function findingsOf({ finding, intent }: Action): string[] {
  if (Array.isArray(intent.findings)) return intent.findings.filter((id) => typeof id === 'string');
  return finding === null ? [] : [finding];
}

function outcomeOf(proof: Proof): PromptOutcome {
  return proof.queued ? 'queued' : 'confirmed';
}
