// One kind of disobedience, or of a world that interferes, played through on an agent of its own: how its handoff ends, and
// what must be so whatever happens.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ModelReply } from '../../src/clients/claude-code/conform/model-script.ts';
import { DeadlineMissed, until, withMore } from '../../src/conform/until.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { type Agent, clientOnPath, launchAgent } from './agent.ts';
import { type Disobedience, ended, Handing, handoffs } from './handing-over.ts';
import { configure } from './prompting.ts';
import type { Scenario } from './scenario.ts';

export interface Kind {
  /** What the model, the person or the world does, for the report. */
  what: string;
  /** `done`, or why it failed. */
  end: string;
  /** The session the agent is in afterwards; the fresh one where it is done, else the old one. */
  in?: 'old' | 'new' | 'another' | 'none';
  /** How often it is asked for the document. */
  asks: number;
  interrupts?: number;
  /** In manual mode with the hooks that `init` installs. */
  mode?: 'manual' | 'acceptEdits';
  trigger?: 'rule';
  model?: Disobedience;
  /** Before the handoff is asked for. */
  before?: (stage: Stage) => Promise<void>;
  /** From when it is asked for. */
  meanwhile?: (stage: Stage) => Promise<void>;
  after?: (stage: Stage, handoff: HandoffDocument) => Promise<void> | void;
}

/** A place in the script where the model stops until the test says so. */
export class Gate {
  #arrive: () => void = () => {};
  #open: () => void = () => {};
  readonly #arrived = new Promise<void>((resolve) => {
    this.#arrive = resolve;
  });
  readonly #opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  /** The first time it stops, later it passes. */
  hold(text: string): ModelReply {
    this.#arrive();
    return { text, hang: this.#opened };
  }

  async reached(ms = 60_000): Promise<void> {
    const late = sleep(ms, null, { ref: false }).then(() => {
      throw new DeadlineMissed(`not within ${ms} ms: the model at its gate`);
    });
    await Promise.race([this.#arrived, late]);
  }

  open(): void {
    this.#open();
  }
}

/** One world for many kinds: what belongs to all agents is changed by one kind at a time. */
export class World {
  readonly s: Scenario;
  readonly #config: Record<string, unknown>;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(s: Scenario, deadlineMinutes: number) {
    this.s = s;
    this.#config = { tickSeconds: 0.5, handoff: { deadlineMinutes } };
  }

  async up(): Promise<void> {
    configure(this.s, JSON.stringify(this.#config));
    // The server must not end with its last agent.
    await this.s.tmux.run('new-session', '-d', '-s', 'empty', 'cat');
    const done = await this.s.watchkeeper(['up', '--detach']);
    if (done.code !== 0) throw new Error(`up failed with ${done.code}: ${done.stderr}`);
  }

  reconfigure(change: Record<string, unknown>): void {
    configure(this.s, JSON.stringify({ ...this.#config, ...change, handoff: this.#handoff(change) }));
  }

  #handoff(change: Record<string, unknown>): unknown {
    return { ...(this.#config.handoff as object), ...((change.handoff ?? {}) as object) };
  }

  /** Nothing is typed by Watchkeeper while this goes on. */
  paused<T>(work: () => Promise<T>): Promise<T> {
    return this.alone(async () => {
      await this.s.watchkeeper(['pause']);
      // What was being typed already is over by then.
      await sleep(1_500);
      return work().finally(() => this.s.watchkeeper(['unpause']));
    });
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}

export interface Stage {
  world: World;
  s: Scenario;
  agent: Agent;
  model: Handing;
  name: string;
  /** Waits until its handoff has taken this step. */
  at(step: string): Promise<void>;
  /** The session that the client is in. */
  session(): string | null;
  /** Something that a person does to the client, after which it is in this other session. */
  otherSession(command: string, id?: string): Promise<void>;
}

const shells = ['direct', 'bash', 'sh'] as const;

async function setStage(world: World, kind: Kind, name: string, nth: number): Promise<Stage> {
  const { s } = world;
  const configDir = path.join(s.dir, name, 'config');
  const agent = await launchAgent({
    scenario: s,
    session: name,
    shell: shells[nth % shells.length] ?? 'direct',
    permissionMode: kind.mode === 'manual' ? 'default' : (kind.mode ?? 'auto'),
    configDir,
    prepared: async () => {
      if (kind.mode !== 'manual') return;
      const done = await s.watchkeeper(['init', '--config-dir', configDir], { env: clientOnPath });
      expect(done.code, done.stderr).toBe(0);
    },
  });
  await agent.waitReady(90_000);
  const known = async () => (await s.watchkeeper(['status', '--json'])).stdout.includes(`"${name}"`);
  await until(`${name} known`, known, 30_000);
  const session = () => (agent.registry()?.sessionId as string | undefined) ?? null;
  const steps = async () => (await handoffs(s, name))[0]?.steps ?? [];
  return {
    world,
    s,
    agent,
    model: new Handing(agent, kind.model),
    name,
    at: async (step) => {
      await until(
        `${name} at ${step}`,
        async () => {
          await sleep(200);
          return (await steps()).some((taken) => taken.step === step);
        },
        90_000,
      );
    },
    session,
    otherSession: async (command, id) => {
      const before = session();
      await agent.type(command);
      await until(`${name}: ${command}`, () => (id === undefined ? session() !== before : session() === id), 30_000);
    },
  };
}

/** How a handoff of this kind ended, when all that must be so is found to be so. */
async function play(world: World, kind: Kind, key: string, nth: number): Promise<HandoffDocument> {
  const { s } = world;
  const name = `${key}-ps`;
  const stage = await setStage(world, kind, name, nth);
  const { agent, model } = stage;
  await kind.before?.(stage);
  const before = stage.session();
  if (kind.trigger === 'rule') await model.fill(86);
  else await byHand(stage);
  await kind.meanwhile?.(stage);
  const handoff = await ended(s, name, 1, 180_000);
  const said = `${kind.what}: ${handoff.steps.map(({ step, reason }) => `${step}${reason === null ? '' : ` (${reason})`}`).join(' ')}`;
  expect(handoff.step === 'done' ? 'done' : handoff.reason, said).toBe(kind.end);
  expect(handoff.old_session, said).toBe(before);

  const steps = handoff.steps.map(({ step }) => step);
  const ledger = (await s.watchkeeper(['audit', name, '--json'])).json<{ items: Item[] }>().items;
  const typed = (deed: string) => ledger.filter(({ intent, outcome }) => intent.deed === deed && outcome !== 'refused');
  expect(typed('ask').length, said).toBe(kind.asks);
  expect(typed('interrupt').length, said).toBe(kind.interrupts ?? 0);
  expect(typed('clear').length, said).toBe(steps.includes('cleared') ? 1 : 0);
  // Cleared only on the strength of a document that is stored.
  if (steps.includes('cleared')) {
    expect(steps.indexOf('saved'), said).toBeLessThan(steps.indexOf('cleared'));
    expect(handoff.sha256, said).toBe(
      createHash('sha256')
        .update(readFileSync(String(handoff.file)))
        .digest('hex'),
    );
  } else expect(handoff.new_session, said).toBeNull();
  // The old conversation is still there, whatever became of it.
  expect(
    agent.transcripts().some(({ file }) => file.includes(String(before))),
    said,
  ).toBe(true);
  expect(whereIs(stage, handoff), said).toBe(kind.in ?? (kind.end === 'done' ? 'new' : 'old'));
  await isTold(stage, handoff, said);
  await kind.after?.(stage, handoff);
  agent.kill('SIGKILL');
  return handoff;
}

/** Refused while somebody else in this world has paused everything. */
async function byHand({ s, model, name }: Stage): Promise<void> {
  await model.fill(30);
  let last = '';
  const asked = async () => {
    const said = await s.watchkeeper(['handoff', name, '--json']);
    last = said.stdout;
    return said.json<HandoffDocument>().id !== null;
  };
  await until(`a handoff of ${name}`, asked, 60_000).catch(withMore(() => last));
}

function whereIs({ agent, session }: Stage, { old_session, new_session }: HandoffDocument): Kind['in'] {
  if (agent.pid() === null) return 'none';
  if (session() === old_session) return 'old';
  return session() === new_session ? 'new' : 'another';
}

/** Of these somebody knows already. */
const quiet: readonly (string | null)[] = ['ended', 'session-changed', 'compacted', 'authority'];

async function isTold({ s, name }: Stage, { step, reason, old_session }: HandoffDocument, said: string): Promise<void> {
  const told = async () => {
    const { items } = (await s.watchkeeper(['inbox', '--json'])).json<{ items: InboxItem[] }>();
    return items.filter((item) => item.agent === name && item.kind === 'handoff-failed');
  };
  if (step === 'failed' && !quiet.includes(reason)) {
    const [item] = await until(
      `a human told: ${said}`,
      async () => {
        const items = await told();
        return items.length > 0 ? items : null;
      },
      30_000,
    );
    expect(item?.text, said).toContain(String(old_session));
  } else expect(await told(), said).toEqual([]);
}

/** All of them, so many at a time; every one is played, and those that did not end as they should are told together. */
export async function playAll(
  world: World,
  kinds: Readonly<Record<string, Kind>>,
  atOnce: number,
): Promise<Map<Kind, HandoffDocument>> {
  const played = new Map<Kind, HandoffDocument>();
  const left = Object.entries(kinds).map(([key, kind], nth) => ({ key, kind, nth }));
  const failures: Error[] = [];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { key, kind, nth } = next;
      const startedMs = Date.now();
      try {
        played.set(kind, await play(world, kind, key, nth));
      } catch (error) {
        const agent = world.s.agents.find(({ session }) => session === `${key}-ps`);
        const screen = (await agent?.screen().catch(() => '')) ?? '';
        const failure = error as Error;
        failure.message = `${key}: ${failure.message}\n${screen.trimEnd()}`;
        failures.push(failure);
        agent?.kill('SIGKILL');
      }
      const how = failures.at(-1)?.message.startsWith(`${key}:`) ? 'NOT AS IT SHOULD' : kind.end;
      process.stderr.write(`  ${key}: ${how}, ${Math.round((Date.now() - startedMs) / 1000)} s\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join('\n\n'));
  return played;
}

interface Item {
  outcome: string | null;
  intent: { deed?: string };
}

interface InboxItem {
  agent: string;
  kind: string;
  text: string;
}
