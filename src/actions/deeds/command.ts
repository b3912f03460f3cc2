import { deliveryPoints, type Proof } from '../../act/deliver.ts';
import type { ClientCommand, Dialect } from '../../clients/client.ts';
import { commandIn } from '../../decide/handoff/recipe.ts';
import { typableCommand } from '../../decide/prompt-text.ts';
import type { Action, Refusal } from '../../model/action.ts';
import type { AgentRef } from '../../model/agent-ref.ts';
import type { Caller } from '../../model/caller.ts';
import type { Json } from '../../model/event.ts';
import { keepNewest } from '../../model/keep-newest.ts';
import type { WatchedAgent } from '../../watch/watched-agent.ts';
import {
  type Deed,
  type DeedWorld,
  type Doing,
  type Done,
  type Heard,
  type OpenDeed,
  type Order,
  proofMs,
} from './deed.ts';

declare module '../../model/action.ts' {
  interface DeedNames {
    command: true;
  }
}

export interface CommandOrder extends Order {
  agent: string;
  /** One of the client's own, or one of the user's own as a recipe names it. */
  command: 'compact' | 'clear' | { resume: string } | { run: string };
  /** In this session, or not at all. */
  session?: string;
  /** Earlier tries that may still be in the box. */
  leftovers?: readonly string[];
}

/** A command as a part of a handoff. */
export interface ForHandoff {
  by: Caller | null;
  about: { [key: string]: Json };
  leftovers: readonly string[];
  session: string;
}

/** What the record said last of a command of the user's own. */
interface Trace {
  name: string;
  isKnown: boolean;
  atMs: number;
}

const markCharsMax = 24;
/** What was decided longer ago than this is decided anew. */
const decisionMs = 3_000;
const agentsMax = 1_000;

export function compactOrder({ host, agent }: AgentRef, by: Caller): CommandOrder {
  return { host, agent, trigger: 'human', finding: null, command: 'compact', by };
}

export function handoffOrder(
  { host, agent }: AgentRef,
  command: CommandOrder['command'],
  handoff: ForHandoff,
): CommandOrder {
  return { host, agent, trigger: 'handoff', finding: null, command, ...handoff };
}

/**
 * The client's own commands, typed by a path of their own: never text from outside, and only to an agent at its prompt.
 * A compaction is proved by the client's history of what was typed, a new session and one that is brought back by the
 * session the agent is in then, a command of the user's own by its record.
 */
export class ClientsCommand implements Deed<CommandOrder, 'confirmed'> {
  readonly needs = 'manage';
  readonly points = deliveryPoints;
  readonly #world: DeedWorld;
  readonly #traces = new Map<string, Trace>();

  constructor(world: DeedWorld) {
    this.#world = world;
  }

  /** By this alone a later run knows what would prove it. */
  intent({ agent, command, session }: CommandOrder) {
    const text =
      typeof command === 'object' && 'run' in command ? command.run : (this.#own(agent, command)?.text ?? '');
    const to = typeof command === 'object' && 'resume' in command ? { to: command.resume } : {};
    return { command: text, ...(session === undefined ? {} : { session }), ...to };
  }

  whyNot({ agent: name, command, session }: CommandOrder, sinceMs: number): Refusal | null {
    const agent = this.#world.agent(name);
    if (typeof command === 'object' && 'run' in command) {
      if (commandIn(command.run) === null) return 'unsafe-text';
    } else if (this.#own(name, command) === undefined) return 'unknown-command';
    if (session !== undefined) {
      // Others may have typed first, and the ledger may have taken its time.
      if (this.#world.clock.monotonicMs() - sinceMs > decisionMs) return 'stale';
      if (agent?.sessionId !== session) return 'stale';
    }
    return agent?.view?.reading.state === 'idle' ? null : 'busy';
  }

  against({ agent }: CommandOrder): Promise<Refusal[]> {
    return this.#world.typist.against(agent);
  }

  async do(order: CommandOrder, action: Action, doing: Doing): Promise<Done<'confirmed'>> {
    const { agent, command, session, leftovers = [] } = order;
    const isHandoff = session !== undefined;
    const common = { proofMs, leftovers, neverOverDraft: isHandoff, atPromptOnly: true };
    const how = typeof command === 'object' && 'run' in command ? typedOwn(command.run) : this.#typed(agent, command);
    const text = typableCommand(how.text);
    if (text === null) return { outcome: 'refused', reason: 'unsafe-text', proof: null, proofMs: null };
    const typed = await this.#world.typist.type({ ...action, agent }, { ...common, ...how, text }, doing);
    return { ...typed, outcome: typed.outcome === 'queued' ? 'confirmed' : typed.outcome };
  }

  /** A command of the user's own leaves its trace, whether the client knew it or not. */
  proves({ action }: OpenDeed, heard: Heard): Proof | null {
    if (!('event' in heard) || action.agent === null) return null;
    const { fact, atMs } = heard.event;
    const isKnown = fact.kind === 'prompt';
    const name = isKnown ? fact.command : fact.kind === 'unknown-command' ? fact.name : undefined;
    if (name === undefined || name !== commandIn(String(action.intent.command)) || atMs < action.atMs) return null;
    keepNewest(this.#traces, action.id, { name, isKnown, atMs }, agentsMax);
    return { queued: false, source: 'transcript', nameless: false, atMs };
  }

  found({ intent, atMs: fromMs }: Action, agent: WatchedAgent): Proof | null {
    const { commands } = agent.seen.client.dialect;
    const by = (source: Proof['source'], atMs: number) => ({ queued: false, source, nameless: false, atMs });
    if (intent.command === commands.compact?.text)
      return (agent.compactAskedMs ?? 0) >= fromMs ? by('transcript', agent.compactAskedMs ?? 0) : null;
    const now = agent.sessionId;
    const isThere =
      typeof intent.to === 'string'
        ? now === intent.to
        : intent.command === commands.clear?.text &&
          typeof intent.session === 'string' &&
          now !== null &&
          now !== intent.session;
    const source = agent.seen.client.sources.registry === undefined ? 'transcript' : 'registry';
    return isThere ? by(source, this.#world.clock.nowMs()) : null;
  }

  saidNo({ id }: Action): Refusal | null {
    return this.#traces.get(id)?.isKnown === false ? 'unknown-command' : null;
  }

  /** In its client's own words; one that has no such command is not typed to. */
  #own(agent: string, command: Exclude<CommandOrder['command'], { run: string }>): ClientCommand | undefined {
    const commands: Dialect['commands'] = this.#world.agent(agent)?.seen.client.dialect.commands ?? {};
    if (typeof command === 'object') return commands.resume?.(command.resume);
    return commands[command];
  }

  #typed(agent: string, command: Exclude<CommandOrder['command'], { run: string }>) {
    const { text, mark } = this.#own(agent, command) ?? { text: '', mark: '' };
    return { text, mark, tag: mark };
  }
}

function typedOwn(text: string) {
  return {
    // A blank behind it closes the client's menu, unless it would complete the name to that of another command.
    text: text.includes(' ') ? text : `${text} `,
    // How it ends, without blanks: by this it is known again in the box.
    mark: text.replaceAll(' ', '').slice(-markCharsMax),
    // tmux is asked for a plain word.
    tag: (/[\w-]+$/.exec(commandIn(text) ?? '')?.[0] ?? '').slice(-markCharsMax),
    neverCompleted: true,
  };
}
