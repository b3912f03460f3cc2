import { setTimeout as sleep } from 'node:timers/promises';
import { type Delivered, type Delivery, deliver, type Proof } from '../act/deliver.ts';
import type { PaneTerminal } from '../act/pane-terminal.ts';
import type { Config } from '../config/schema.ts';
import { whyNotNow } from '../decide/fit.ts';
import { whyNotAllowed, whyNotHeld } from '../decide/gate.ts';
import { type ClockTrust, peopleBySteadyClock } from '../decide/steady-people.ts';
import type { Refusal } from '../model/action.ts';
import type { AgentView, Authority } from '../model/agent.ts';
import type { PaneFacts } from '../model/delivery.ts';
import type { HoldStanding } from '../model/hold.ts';
import type { Clock, Files, Processes } from '../model/world.ts';
import { lookNow } from '../sense/fresh-look.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';

export interface TypistParts {
  clock: Clock;
  processes: Processes;
  files: Files;
  config: () => Config;
  paused: () => boolean;
  agent: (name: string) => WatchedAgent | null;
  terminal: (socket: string, pane: string, still?: () => boolean) => PaneTerminal;
  /** What was decided about typing to an agent, and how its pane was then. */
  decided: (agent: string, refusal: Refusal | null, pane: PaneFacts | null) => void;
  /** How far the wall clock can be believed. */
  trust: () => ClockTrust;
  /** Whose agent it is, looked up in this moment. */
  hold: (view: AgentView) => HoldStanding;
}

/** Types into agents, one thing at a time for each, and only what the gate lets through. */
export class Typist {
  readonly #parts: TypistParts;
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(parts: TypistParts) {
    this.#parts = parts;
  }

  /** Those that are being typed to. */
  get typing(): ReadonlySet<string> {
    return new Set(this.#busy.keys());
  }

  /** Waits until nobody else types to this agent. */
  inTurn<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#busy.get(agent) ?? Promise.resolve()).then(work);
    const done = mine
      .catch(() => {})
      .then(() => {
        if (this.#busy.get(agent) === done) this.#busy.delete(agent);
      });
    this.#busy.set(agent, done);
    return mine;
  }

  /** Pause, mode, authority, and whether there is a pane to type into. */
  whyNotAllowed(name: string, needs: Authority): Refusal | null {
    const agent = this.#parts.agent(name);
    const view = agent?.view ?? null;
    if (agent === null || view === null) return 'not-agent';
    const { mode } = this.#parts.config();
    const { authority } = view;
    const facts = { mode, paused: this.#parts.paused(), authority, hold: this.#parts.hold(view) };
    const refusal = whyNotAllowed(needs, facts);
    return refusal ?? (agent.seen.place === null ? 'not-agent' : null);
  }

  /** A shell beneath reads what comes after the client's end. */
  hasShellBeneath(name: string): boolean {
    const seen = this.#parts.agent(name)?.seen;
    return seen?.place?.pane.pid !== seen?.process.pid;
  }

  /** Would it be refused at this moment? Nothing is typed. */
  async whyNotNow(name: string): Promise<Refusal | null> {
    const agent = this.#parts.agent(name);
    if (agent === null || agent.seen.place === null) return 'not-agent';
    return this.#whyNotNow(agent, await this.pane(name));
  }

  /** Its pane and who is at it; null: it has none, or tmux does not answer. */
  async pane(name: string): Promise<PaneFacts | null> {
    const place = this.#parts.agent(name)?.seen.place ?? null;
    return place === null ? null : this.#parts.terminal(place.socket, place.pane.id).facts();
  }

  async type(
    name: string,
    delivery: Delivery,
    proof: (timeoutMs: number) => Promise<Proof | null>,
  ): Promise<Delivered> {
    const agent = this.#parts.agent(name);
    const place = agent?.seen.place ?? null;
    if (agent === null || place === null) {
      return { outcome: 'refused', reason: 'not-agent', proof: null, proofMs: null, draftRestored: null };
    }
    return deliver(delivery, {
      terminal: this.#parts.terminal(place.socket, place.pane.id, () => this.#isStillOurs(agent)),
      whyNotNow: (pane) => this.#whyNotNow(agent, pane, delivery.atPromptOnly === true),
      dialect: agent.seen.client.dialect,
      proof: (_tag, timeoutMs) => proof(timeoutMs),
      monotonicMs: () => this.#parts.clock.monotonicMs(),
      sleep: (ms) => sleep(ms),
    });
  }

  /**
   * One Escape, and only while its registry says busy in this very moment: at the prompt two of them open a menu, and
   * in a dialog it is an answer.
   */
  async interrupt(name: string): Promise<Refusal | 'done' | 'unknown'> {
    const agent = this.#parts.agent(name);
    const place = agent?.seen.place ?? null;
    if (agent === null || place === null) return 'not-agent';
    const terminal = this.#parts.terminal(place.socket, place.pane.id, () => this.#isStillOurs(agent));
    const [pane, screen] = [await terminal.facts(), await terminal.screen()];
    const box = screen === null ? null : agent.seen.client.dialect.findInputBox(screen);
    const refusal = this.#whyNotNow(agent, pane);
    if (refusal !== null || pane === null) return refusal ?? 'pane-dead';
    if (pane.mode !== '') return 'pane-mode';
    if (box === null) return 'no-input-box';
    const { activity } = lookNow(agent.seen, pane.pid, this.#parts.processes, this.#parts.files);
    if (activity !== 'busy' || agent.isBroken('registry')) return 'stale';
    const guard = {
      panePid: pane.pid,
      command: pane.command,
      boxMark: box.mark,
      shows: null,
      onlookers: pane.onlookers,
    };
    const typed = await terminal.keys(agent.seen.client.dialect.keys.interrupt, 1, guard);
    return typed === 'not-now' ? 'stale' : typed;
  }

  /** Since the last look the process may have stood still, or somebody said to pause. */
  #isStillOurs(agent: WatchedAgent): boolean {
    return !this.#parts.paused() && agent.view !== null && whyNotHeld(this.#parts.hold(agent.view)) === null;
  }

  #whyNotNow(agent: WatchedAgent, pane: PaneFacts | null, atPromptOnly = false): Refusal | null {
    if (this.#parts.paused()) return 'paused';
    const notHeld = agent.view === null ? 'no-hold' : whyNotHeld(this.#parts.hold(agent.view));
    if (notHeld !== null) return notHeld;
    const { clock, processes, files } = this.#parts;
    const quietMs = this.#parts.config().prompt.humanQuietSeconds * 1000;
    const look = lookNow(agent.seen, pane?.pid ?? null, processes, files);
    // An entry that says something counts more than anything else.
    const unsaid = look.activity === null || look.activity === 'unclear' || agent.isBroken('registry');
    const otherwise = agent.isBroken('registry') ? null : look.activity;
    const activity = unsaid ? (agent.standIn(clock.nowMs()) ?? otherwise) : look.activity;
    const atSetup = agent.view?.reading.detail === 'setup';
    const people = pane === null ? null : peopleBySteadyClock(pane.people, this.#parts.trust(), clock.nowMs());
    const seen = pane === null || people === null ? null : { ...pane, people };
    const refusal = whyNotNow({ ...look, activity, atSetup }, seen, clock.nowMs(), quietMs);
    this.#parts.decided(agent.name, refusal, pane);
    return refusal ?? (atPromptOnly && activity === 'busy' ? 'busy' : null);
  }
}
