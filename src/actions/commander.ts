import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Proof } from '../act/deliver.ts';
import type { ClientCommand, Dialect } from '../clients/client.ts';
import { commandIn } from '../decide/handoff/recipe.ts';
import type { AgentAction, Refusal } from '../model/action.ts';
import type { Caller } from '../model/caller.ts';
import type { Json } from '../model/event.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import type { Typist } from './typist.ts';

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

/** A command as a part of a handoff. */
interface ForHandoff {
  about: { [key: string]: Json };
  /** Earlier tries that may still be in the box. */
  leftovers: readonly string[];
  /** In this session, or not at all. */
  session: string;
}

interface Command {
  text: string;
  /** Who asked for it, where that is no handoff. */
  by?: Caller;
  /** How it ends, without blanks: by this it is known again in the box. */
  mark: string;
  /** A word of it that tmux is asked for, where the mark could be no plain one. */
  onScreen?: string;
  /** When the client's own records say that it was done; null: not yet. */
  doneMs: (agent: WatchedAgent, action: AgentAction) => number | null;
  proof: Proof['source'];
  /** What is typed where that is not the text itself. */
  typed?: string;
  neverCompleted?: boolean;
  whyNot?: () => Refusal | null;
  /** The client took it, and said no. */
  refusedAs?: (action: AgentAction) => Refusal | null;
}

/** What the record said last of a command of the user's own. */
interface Trace {
  name: string;
  isKnown: boolean;
  atMs: number;
}

const proofMs = 8_000;
/** From our Escape to the client's record of it, and what the clocks of two writers differ by. */
const escapeMs = 5_000;
const markCharsMax = 24;
/** What was decided longer ago than this is decided anew. */
const decisionMs = 3_000;
const pollMs = 100;
const agentsMax = 1_000;

/**
 * The client's own commands, typed by a path of their own: never text from outside, and only to an agent at its prompt.
 * A compaction is proved by the client's history of what was typed, a new session and one that is brought back by the
 * session the agent is in then, a command of the user's own by its record in the transcript.
 */
export class Commander {
  readonly #parts: CommanderParts;
  readonly #traces = new Map<string, Trace>();
  /** When each was last interrupted by us. */
  readonly #escapedMs = new Map<string, number>();

  constructor(parts: CommanderParts) {
    this.#parts = parts;
  }

  compact(agent: string, by: Caller): Promise<CommandResult> {
    const doneMs = (of: WatchedAgent, action: AgentAction) =>
      (of.compactAskedMs ?? 0) >= action.atMs ? of.compactAskedMs : null;
    return this.#own(agent, (commands) => commands.compact, { doneMs, proof: 'transcript', by }, null);
  }

  /** Only a handoff whose document is stored may ask for it. */
  clear(agent: string, handoff: ForHandoff): Promise<CommandResult> {
    const doneMs = (of: WatchedAgent) =>
      of.sessionId !== null && of.sessionId !== handoff.session ? this.#parts.clock.nowMs() : null;
    return this.#own(agent, (commands) => commands.clear, { doneMs, proof: this.#sessionProof(agent) }, handoff);
  }

  /** Brings back the session with exactly this id. */
  resume(agent: string, sessionId: string, handoff: ForHandoff): Promise<CommandResult> {
    const doneMs = (of: WatchedAgent) => (of.sessionId === sessionId ? this.#parts.clock.nowMs() : null);
    const proof = this.#sessionProof(agent);
    return this.#own(agent, (commands) => commands.resume?.(sessionId), { doneMs, proof }, handoff);
  }

  /** In its client's own words; one that has no such command is not typed to. */
  #own(
    agent: string,
    which: (commands: Dialect['commands']) => ClientCommand | undefined,
    proof: Pick<Command, 'doneMs' | 'proof' | 'by'>,
    handoff: ForHandoff | null,
  ): Promise<CommandResult> {
    const dialect = this.#parts.agent(agent)?.seen.client.dialect;
    const own = dialect === undefined ? undefined : which(dialect.commands);
    const lacks = dialect !== undefined && own === undefined;
    const { text, mark } = own ?? { text: '', mark: '' };
    return this.#inTurn(agent, { text, mark, ...proof, whyNot: () => (lacks ? 'unknown-command' : null) }, handoff);
  }

  #sessionProof(agent: string): Proof['source'] {
    return this.#parts.agent(agent)?.seen.client.sources.registry === undefined ? 'transcript' : 'registry';
  }

  /** A command of the user's own, as a recipe names it; never one of the client's. */
  run(agent: string, text: string, handoff: ForHandoff): Promise<CommandResult> {
    const name = commandIn(text);
    const traceOf = (action: AgentAction) => {
      const trace = this.#traces.get(action.agent);
      return trace !== undefined && trace.name === name && trace.atMs >= action.atMs ? trace : null;
    };
    const command: Command = {
      text,
      mark: text.replaceAll(' ', '').slice(-markCharsMax),
      onScreen: (/[\w-]+$/.exec(name ?? '')?.[0] ?? '').slice(-markCharsMax),
      doneMs: (_of, action) => traceOf(action)?.atMs ?? null,
      proof: 'transcript',
      // A blank behind it closes the client's menu, unless it would complete the name to that of another command.
      typed: text.includes(' ') ? text : `${text} `,
      neverCompleted: true,
      whyNot: () => (name === null ? 'unsafe-text' : null),
      refusedAs: (action) => (traceOf(action)?.isKnown === false ? 'unknown-command' : null),
    };
    return this.#inTurn(agent, command, handoff);
  }

  /** Was a turn that ended so at this time interrupted by us? */
  interrupted(agent: string, atMs: number): boolean {
    const escapedMs = this.#escapedMs.get(agent);
    return escapedMs !== undefined && Math.abs(atMs - escapedMs) < escapeMs;
  }

  /** Everything the agents' own records say passes here. */
  told(agent: string, { fact, atMs }: SessionEvent): void {
    if (fact.kind === 'unknown-command') this.#trace(agent, { name: fact.name, isKnown: false, atMs });
    else if (fact.kind === 'prompt' && fact.command !== undefined)
      this.#trace(agent, { name: fact.command, isKnown: true, atMs });
  }

  #trace(agent: string, trace: Trace): void {
    keepNewest(this.#traces, agent, trace, agentsMax);
  }

  /** One Escape to an agent at work. */
  interrupt(agent: string, about: { [key: string]: Json }): Promise<CommandResult> {
    return this.#parts.typist.inTurn(agent, async () => {
      const action = this.#action(agent, 'interrupt', about);
      if (!(await this.#intend(action))) return this.#result(action, 'refused', 'no-ledger', null);
      const refusal = this.#parts.typist.whyNotAllowed(agent, 'manage');
      if (refusal !== null) return this.#conclude(action, 'refused', refusal, null);
      const typed = await this.#parts.typist.interrupt(agent);
      if (typed === 'done' || typed === 'unknown')
        keepNewest(this.#escapedMs, agent, this.#parts.clock.nowMs(), agentsMax);
      if (typed === 'done') return this.#conclude(action, 'confirmed', null, null);
      return this.#conclude(action, typed === 'unknown' ? 'uncertain' : 'refused', typed, null);
    });
  }

  #inTurn(agent: string, command: Command, handoff: ForHandoff | null): Promise<CommandResult> {
    const decidedMs = this.#parts.clock.monotonicMs();
    return this.#parts.typist.inTurn(agent, () => this.#type(agent, command, handoff, decidedMs));
  }

  async #type(agent: string, command: Command, handoff: ForHandoff | null, decidedMs: number): Promise<CommandResult> {
    const { typist, clock } = this.#parts;
    const action = this.#action(agent, 'command', {
      command: command.text,
      ...(command.by === undefined ? {} : { by: command.by }),
      ...handoff?.about,
    });
    if (!(await this.#intend(action))) return this.#result(action, 'refused', 'no-ledger', null);
    // Others may have typed first, and the ledger may have taken its time.
    const isOld = handoff !== null && clock.monotonicMs() - decidedMs > decisionMs;
    const refusal =
      typist.whyNotAllowed(agent, 'manage') ?? command.whyNot?.() ?? (isOld ? 'stale' : this.#whyNot(agent, handoff));
    if (refusal !== null) return this.#conclude(action, 'refused', refusal, null);
    const delivery = {
      text: command.typed ?? command.text,
      mark: command.mark,
      tag: command.onScreen ?? command.mark,
      proofMs,
      leftovers: handoff?.leftovers ?? [],
      neverOverDraft: handoff !== null,
      atPromptOnly: true,
      neverCompleted: command.neverCompleted === true,
    };
    const typed = await typist.type(agent, delivery, (timeoutMs) => this.#proof(action, command, timeoutMs));
    const no = command.refusedAs?.(action) ?? null;
    if (no !== null) return this.#conclude(action, 'refused', no, typed.proofMs);
    return this.#conclude(
      action,
      typed.outcome === 'queued' ? 'confirmed' : typed.outcome,
      typed.reason,
      typed.proofMs,
    );
  }

  #whyNot(name: string, handoff: ForHandoff | null): Refusal | null {
    const agent = this.#parts.agent(name);
    if (handoff !== null && agent?.sessionId !== handoff.session) return 'stale';
    return agent?.view?.reading.state === 'idle' ? null : 'busy';
  }

  async #proof(action: AgentAction, { doneMs, proof }: Command, timeoutMs: number): Promise<Proof | null> {
    const endMs = this.#parts.clock.monotonicMs() + timeoutMs;
    while (this.#parts.clock.monotonicMs() < endMs) {
      const agent = this.#parts.agent(action.agent);
      const atMs = agent === null ? null : doneMs(agent, action);
      if (atMs !== null) return { queued: false, source: proof, nameless: false, atMs };
      this.#parts.lookSoon(action.agent);
      await sleep(pollMs);
    }
    return null;
  }

  #action(agent: string, kind: 'command' | 'interrupt', intent: { [key: string]: Json }): AgentAction {
    const trigger = 'handoff' in intent ? 'handoff' : 'human';
    return { id: randomUUID(), atMs: this.#parts.clock.nowMs(), agent, kind, trigger, intent, finding: null };
  }

  async #intend(action: AgentAction): Promise<boolean> {
    await this.#parts.flush();
    return (await this.#parts.store.intend(this.#parts.host, action)).ok;
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
