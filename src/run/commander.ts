import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Proof } from '../act/deliver.ts';
import type { AgentAction, Refusal } from '../model/action.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { Typist } from './typist.ts';
import type { WatchedAgent } from './watched-agent.ts';

export interface CommandResult {
  id: string;
  agent: string;
  outcome: 'confirmed' | 'refused' | 'uncertain';
  reason: string | null;
  proof_ms: number | null;
}

interface CommanderParts {
  host: string;
  store: Store;
  clock: Clock;
  typist: Typist;
  agent: (name: string) => WatchedAgent | null;
  flush: () => Promise<boolean>;
  lookSoon: (agent: string) => void;
}

const proofMs = 8_000;
const pollMs = 100;

/**
 * The client's own commands, typed by a path of their own: never text from outside, and only to an agent at its prompt.
 * `/compact` is proved by the client's history. `/clear` waits for the handoff that has to come before it.
 */
export class Commander {
  readonly #parts: CommanderParts;

  constructor(parts: CommanderParts) {
    this.#parts = parts;
  }

  compact(agent: string): Promise<CommandResult> {
    return this.#parts.typist.inTurn(agent, () => this.#compact(agent));
  }

  async #compact(agent: string): Promise<CommandResult> {
    const { store, host, clock, typist } = this.#parts;
    const action: AgentAction = {
      id: randomUUID(),
      atMs: clock.nowMs(),
      agent,
      kind: 'command',
      trigger: 'human',
      intent: { command: '/compact' },
      finding: null,
    };
    await this.#parts.flush();
    if (!(await store.intend(host, action)).ok) return this.#result(action, 'refused', 'no-ledger', null);
    const refusal = typist.whyNotAllowed(agent, 'manage') ?? this.#whyBusy(agent);
    if (refusal !== null) return this.#conclude(action, 'refused', refusal, null);
    const delivery = { text: '/compact', mark: '/compact', tag: 'compact', proofMs };
    const typed = await typist.type(agent, delivery, (timeoutMs) => this.#proof(action, timeoutMs));
    return this.#conclude(
      action,
      typed.outcome === 'queued' ? 'confirmed' : typed.outcome,
      typed.reason,
      typed.proofMs,
    );
  }

  #whyBusy(agent: string): Refusal | null {
    return this.#parts.agent(agent)?.view?.reading.state === 'idle' ? null : 'busy';
  }

  /** What was typed is in the client's own history a moment later. */
  async #proof(action: AgentAction, timeoutMs: number): Promise<Proof | null> {
    const endMs = this.#parts.clock.monotonicMs() + timeoutMs;
    while (this.#parts.clock.monotonicMs() < endMs) {
      const atMs = this.#parts.agent(action.agent)?.compactAskedMs ?? 0;
      if (atMs >= action.atMs) return { queued: false, source: 'transcript', nameless: false, atMs };
      this.#parts.lookSoon(action.agent);
      await sleep(pollMs);
    }
    return null;
  }

  async #conclude(
    action: AgentAction,
    outcome: CommandResult['outcome'],
    reason: string | null,
    tookMs: number | null,
  ): Promise<CommandResult> {
    const proof = tookMs === null ? null : { proof_ms: tookMs };
    await this.#parts.store.conclude({ actionId: action.id, atMs: this.#parts.clock.nowMs(), outcome, reason, proof });
    return this.#result(action, outcome, reason, tookMs);
  }

  #result(
    action: AgentAction,
    outcome: CommandResult['outcome'],
    reason: string | null,
    tookMs: number | null,
  ): CommandResult {
    return { id: action.id, agent: action.agent, outcome, reason, proof_ms: tookMs };
  }
}
