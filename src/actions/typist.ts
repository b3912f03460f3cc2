import { setTimeout as sleep } from 'node:timers/promises';
import { type Delivered, type Delivery, deliver } from '../act/deliver.ts';
import type { PaneNow } from '../act/pane-facts.ts';
import type { OwnPane, PaneTerminal, TypingGuard } from '../act/pane-terminal.ts';
import type { ScreenReading } from '../clients/client.ts';
import type { Config } from '../config/schema.ts';
import { againstTyping } from '../decide/fit.ts';
import { whyNotHeld } from '../decide/gate.ts';
import { type ClockTrust, peopleBySteadyClock } from '../decide/steady-people.ts';
import type { Action, Refusal } from '../model/action.ts';
import type { RegistryActivity, Sighting } from '../model/agent.ts';
import type { PaneFacts } from '../model/delivery.ts';
import type { HoldStanding } from '../model/hold.ts';
import type { Clock, Files, Processes } from '../model/world.ts';
import { lookNow } from '../sense/fresh-look.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import type { Doing } from './deeds/deed.ts';

export interface TypistParts {
  clock: Clock;
  processes: Processes;
  files: Files;
  config: () => Config;
  paused: () => boolean;
  agent: (name: string) => WatchedAgent | null;
  terminal: (socket: string, pane: string, own?: OwnPane) => PaneTerminal;
  /** What was decided about typing to an agent, and how its pane was then. */
  decided: (agent: string, refusal: Refusal | null, pane: PaneFacts | null) => void;
  /** How far the wall clock can be believed. */
  trust: () => ClockTrust;
  /** Whose agent it is, looked up in this moment. */
  hold: (view: Sighting) => HoldStanding;
  /** The number under which it is ours; null: it is not. */
  holdNumber: (view: Sighting) => number | null;
}

/** A pane in this very moment, and what its screen says where the client's registry says nothing. */
interface Glance {
  pane: PaneNow | null;
  picture: { reading: ScreenReading | null } | null;
}

type Now = Omit<Glance, 'pane'> & { pane: PaneFacts | null };

/** The row by which something is typed. */
export type TypedBy = Pick<Action, 'intent'> & { agent: string };

/** Types into agents, only what fits in that moment, and only as long as the hold of the row is ours. */
export class Typist {
  readonly #parts: TypistParts;

  constructor(parts: TypistParts) {
    this.#parts = parts;
  }

  /** A shell beneath reads what comes after the client's end. */
  hasShellBeneath(name: string): boolean {
    const seen = this.#parts.agent(name)?.seen;
    return seen?.place?.pane.pid !== seen?.process.pid;
  }

  /** What speaks against typing at this moment. Nothing is typed. */
  async against(name: string): Promise<Refusal[]> {
    const agent = this.#parts.agent(name);
    if (agent === null || agent.seen.place === null) return ['not-agent'];
    return [...this.#against(agent, await glance(agent, this.#terminal(agent, null)))];
  }

  /** The same for one Escape. */
  async againstInterrupt(name: string): Promise<Refusal[]> {
    const agent = this.#parts.agent(name);
    if (agent === null || agent.seen.place === null) return ['not-agent'];
    return (await this.#aim(agent, this.#terminal(agent, null))).refusals;
  }

  /** Its pane and who is at it; null: it has none, or tmux does not answer. */
  async pane(name: string): Promise<PaneFacts | null> {
    const place = this.#parts.agent(name)?.seen.place ?? null;
    return place === null ? null : this.#parts.terminal(place.socket, place.pane.id).facts();
  }

  /** Whoever had this agent before gets no key through any more. */
  async fence(name: string): Promise<boolean> {
    const agent = this.#parts.agent(name);
    if (agent === null || agent.view === null || agent.seen.place === null) return false;
    return this.#terminal(agent, this.#parts.holdNumber(agent.view)).fence();
  }

  async type(by: TypedBy, delivery: Delivery, { prove, at }: Pick<Doing, 'prove' | 'at'>): Promise<Delivered> {
    const agent = this.#parts.agent(by.agent);
    if (agent === null || agent.seen.place === null) {
      return { outcome: 'refused', reason: 'not-agent', proof: null, proofMs: null, draftRestored: null };
    }
    const terminal = this.#terminal(agent, holdIn(by));
    let picture: Glance['picture'] = null;
    const facts = async () => {
      const now = await glance(agent, terminal);
      picture = now.picture;
      return now.pane;
    };
    return deliver(delivery, {
      terminal: { ...terminal, facts },
      whyNotNow: (pane) => this.#whyNotNow(agent, { pane, picture }, delivery.atPromptOnly === true),
      dialect: agent.seen.client.dialect,
      proof: (_tag, timeoutMs) => prove(timeoutMs),
      at,
      monotonicMs: () => this.#parts.clock.monotonicMs(),
      sleep: (ms) => sleep(ms),
    });
  }

  /**
   * One Escape, and only while the client says busy in this very moment, by its registry or, where it has none, by its
   * record and its screen: at the prompt two of them may open a menu, and in a dialog it is an answer.
   */
  async interrupt(by: TypedBy): Promise<Refusal | 'done' | 'unknown'> {
    const agent = this.#parts.agent(by.agent);
    if (agent === null || agent.seen.place === null) return 'not-agent';
    const terminal = this.#terminal(agent, holdIn(by));
    const { refusals, guard } = await this.#aim(agent, terminal);
    if (refusals[0] !== undefined || guard === null) return refusals[0] ?? 'stale';
    if (!(await terminal.fence())) return this.#whyNotNow(agent, await glance(agent, terminal)) ?? 'stale';
    const typed = await terminal.keys(agent.seen.client.dialect.keys.interrupt, 1, guard);
    return typed === 'not-now' ? 'stale' : typed;
  }

  /** What speaks against one Escape, and what has to hold while it is pressed. */
  async #aim(agent: WatchedAgent, terminal: PaneTerminal): Promise<{ refusals: Refusal[]; guard: TypingGuard | null }> {
    const [screen, pane] = [await terminal.screen(), await terminal.facts()];
    const box = screen === null ? null : agent.seen.client.dialect.findInputBox(screen);
    const picture = pictureOf(agent, screen);
    const refusals = [...this.#against(agent, { pane, picture })];
    if (pane === null) return { refusals, guard: null };
    if (pane.mode !== '') refusals.push('pane-mode');
    if (box === null) refusals.push('no-input-box');
    const activity = this.#working(agent, { pane, picture });
    if (activity === 'idle' || activity === 'shell') refusals.push('not-working');
    else if (activity !== 'busy') refusals.push('stale');
    const { pid: panePid, command, onlookers } = pane;
    const guard = box === null ? null : { panePid, command, boxMark: box.mark, shows: null, onlookers };
    return { refusals: [...new Set(refusals)], guard };
  }

  /** Does a turn run in this very moment? null: nobody knows. */
  #working(agent: WatchedAgent, { pane, picture }: Now): RegistryActivity | null {
    const { clock, processes, files } = this.#parts;
    if (agent.seen.client.sources.registry !== undefined)
      return agent.believed(lookNow(agent.seen, pane?.pid ?? null, processes, files).activity);
    const said = agent.standIn(clock.nowMs(), picture);
    return said === 'busy' && picture?.reading?.shows !== 'busy' ? null : said;
  }

  /** Nothing is typed into it but under this number of the hold. */
  #terminal(agent: WatchedAgent, number: number | null): PaneTerminal {
    const place = agent.seen.place;
    const { pid, startTicks } = agent.seen.process;
    const still = () => this.#isStillOurs(agent, number);
    const own = { still, fence: number === null ? null : `${pid}-${startTicks}-${number}` };
    return this.#parts.terminal(place?.socket ?? '', place?.pane.id ?? '', own);
  }

  /** Since the last look the process may have stood still, or somebody said to pause. */
  #isStillOurs({ view }: WatchedAgent, number: number | null): boolean {
    const { paused, holdNumber } = this.#parts;
    return !paused() && view !== null && number !== null && holdNumber(view) === number;
  }

  #whyNotNow(agent: WatchedAgent, now: Now, atPromptOnly = false): Refusal | null {
    const [first] = this.#against(agent, now, atPromptOnly);
    return first ?? null;
  }

  *#against(agent: WatchedAgent, { pane, picture }: Now, atPromptOnly = false): Generator<Refusal, void> {
    if (this.#parts.paused()) yield 'paused';
    const notHeld = agent.view === null ? 'no-hold' : whyNotHeld(this.#parts.hold(agent.view));
    if (notHeld !== null) yield notHeld;
    const { clock, processes, files } = this.#parts;
    const quietMs = this.#parts.config().prompt.humanQuietSeconds * 1000;
    const look = lookNow(agent.seen, pane?.pid ?? null, processes, files);
    // An entry that says something counts more than anything else.
    const said = agent.believed(look.activity);
    const activity = said === null || said === 'unclear' ? (agent.standIn(clock.nowMs(), picture) ?? said) : said;
    const atSetup = agent.view?.reading.detail === 'setup';
    const people = pane === null ? null : peopleBySteadyClock(pane.people, this.#parts.trust(), clock.nowMs());
    const seen = pane === null || people === null ? null : { ...pane, people };
    const refusals = [...againstTyping({ ...look, activity, atSetup }, seen, clock.nowMs(), quietMs)];
    this.#parts.decided(agent.name, refusals[0] ?? null, pane);
    yield* refusals;
    if (atPromptOnly && activity === 'busy') yield 'busy';
  }
}

async function glance(agent: WatchedAgent, terminal: PaneTerminal): Promise<Glance> {
  const pane = await terminal.facts();
  return { pane, picture: agent.hasRegistry ? null : pictureOf(agent, await terminal.screen()) };
}

function pictureOf({ seen }: WatchedAgent, screen: string | null): Glance['picture'] {
  return screen === null ? null : { reading: seen.client.sources.screen?.read(screen) ?? null };
}

function holdIn({ intent }: TypedBy): number | null {
  return typeof intent.hold === 'number' ? intent.hold : null;
}
