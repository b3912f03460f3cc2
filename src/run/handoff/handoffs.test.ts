// The daemon dies at every point of a handoff, before and after each thing it does, and the next one goes on: in a world
// that is made up but for the document's file.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentView, State } from '../../model/agent.ts';
import type { Json } from '../../model/event.ts';
import { type Handoff, type HandoffAction, type HandoffDeed, stepOf } from '../../model/handoff.ts';
import { ok } from '../../model/result.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { type Config, defaultConfig } from '../config/schema.ts';
import { findHome } from '../home.ts';
import { Handoffs, type HandoffsParts } from './handoffs.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-handoffs-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

class Killed extends Error {}

type Watched = NonNullable<ReturnType<HandoffsParts['agent']>>;

/** One agent with its client, and the database: what outlives a killed daemon. */
class MadeUp {
  readonly project = mkdtempSync(path.join(dir, 'project-'));
  shownAs = this.project;
  nowMs = Date.now();
  session: string | null = 'old';
  state: State = 'idle';
  readonly done: string[] = [];
  readonly #rows = new Map<string, Handoff>();
  readonly documents = new Map<string, string>();
  readonly #ledger: (HandoffAction & { handoff: string })[] = [];
  readonly #record = new Map<string, SessionFact[]>();
  #daemon: Handoffs | null = null;
  #wrote = false;
  /** The daemon dies when it comes to this point; 0: never. */
  killAt = 0;
  #point = 0;
  killed = false;
  /** The first document lacks its nonce; the fresh context does not read it. */
  isPoor = false;
  isDeaf = false;
  /** What becomes of the file when the context is cleared. */
  meanwhile: (file: string) => void = () => {};
  /** What the fresh context read. */
  read: string | null = null;

  get points(): number {
    return this.#point;
  }

  get handoff(): Handoff | undefined {
    return [...this.#rows.values()].at(-1);
  }

  /** A daemon is started: it settles what the one before left open, and reads the client's record from its beginning. */
  async start(): Promise<void> {
    for (const action of this.#ledger.filter(({ outcomes }) => outcomes.length === 0)) {
      const tag = /\[(wk-\w+)\]$/.exec(action.typed ?? '')?.[1];
      const facts = this.#record.get(this.session ?? '') ?? [];
      const arrived = facts.some((fact) => fact.kind === 'prompt' && tag !== undefined && fact.tags.includes(tag));
      action.outcomes.push({ outcome: arrived ? 'confirmed' : 'uncertain', reason: 'daemon-restarted' });
    }
    this.#daemon = new Handoffs(this.#parts());
    await this.#daemon.restore();
    for (const fact of this.#record.get(this.session ?? '') ?? []) this.#tell(fact);
  }

  request(): Promise<unknown> {
    return this.#survive(() => this.#daemon?.request('a-ps', false));
  }

  async round(): Promise<void> {
    this.nowMs += 5_000;
    // A file that changed this very moment does not count yet, by the clock of its file system.
    if (this.#wrote || this.handoff?.steps.at(-1)?.step === 'cleared') await sleep(25);
    this.#wrote = false;
    await this.#survive(async () => {
      this.#daemon?.round([this.view()]);
      await this.#daemon?.settled();
    });
    if (this.killed) {
      this.killed = false;
      await this.start();
    }
  }

  async #survive(work: () => Promise<unknown> | undefined): Promise<void> {
    await work()?.catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (!(error instanceof Killed)) throw error;
    this.killed = true;
  }

  /** Here a daemon may die. */
  #at(): void {
    this.#point += 1;
    if (this.#point === this.killAt) throw new Killed();
  }

  view(): AgentView {
    const reading = { state: this.state, detail: null };
    const process = { bootId: 'b', pid: 1, startTicks: '1' };
    const known = { agent: 'a-ps', project: 'a', authority: 'manage', cwd: this.shownAs, sessionId: this.session };
    return { ...known, reading, process, background: [], findings: [], context: null } as unknown as AgentView;
  }

  #parts(): HandoffsParts {
    const config: Config = defaultConfig();
    const watched = { sessionId: this.session, seen: { place: {}, configDir: null } } as unknown as Watched;
    return {
      host: 'h',
      home: findHome({ WATCHKEEPER_HOME: path.join(dir, 'home') }),
      uid: process.getuid?.() ?? 0,
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      git: { head: async () => null, hasCommit: async () => 'no' },
      config: () => config,
      paused: () => false,
      agent: () =>
        Object.assign(watched, {
          sessionId: this.session,
          handoffDue: () => ({ now: false, percent: 10, reason: 'room-left' }),
        }),
      view: () => this.view(),
      flush: async () => true,
      news: () => {},
      idFor: () => 'id',
      failed: (error) => this.#failed(error),
      store: {
        beginHandoff: async (_host, handoff) => {
          this.#at();
          this.#rows.set(handoff.id, structuredClone(handoff));
          this.#at();
          return ok(undefined);
        },
        takeHandoffStep: async (id, from, taken, change) => {
          const row = this.#rows.get(id);
          if (row === undefined || stepOf(row) !== from) throw new Error(`${id} does not stand at ${from}`);
          this.#at();
          row.steps.push({ ...taken });
          row.newSession = change.newSession ?? row.newSession;
          row.sentBack = change.sentBack ?? row.sentBack;
          row.sha256 = change.document?.sha256 ?? row.sha256;
          if (change.document !== undefined) this.documents.set(id, change.document.text);
          this.#at();
          return ok(undefined);
        },
        loadHandoffs: async () => ok([...this.#rows.values()].map((row) => structuredClone(row))),
        handoffText: async (id) => ok(this.documents.get(id) ?? null),
        handoffActions: async (id) => ok(structuredClone(this.#ledger.filter(({ handoff }) => handoff === id))),
      },
      prompter: {
        prompt: async ({ text, about }) => {
          const tag = `wk-${this.#ledger.length}abc`;
          await this.#deed(about ?? {}, `${text} [${tag}]`, () => this.#hear(text, tag));
          const answer = { proof: null, proof_ms: 1, answer: null };
          return { id: 'i', tag, agent: 'a-ps', outcome: 'confirmed', reason: null, ...answer };
        },
      },
      commander: {
        clear: (_agent, { about }) =>
          this.#command(about, '/clear', () => {
            this.#go('new');
            this.meanwhile(this.handoff?.file ?? '');
          }),
        resume: (_agent, session, { about }) => this.#command(about, `/resume ${session}`, () => this.#go(session)),
        run: (_agent, text, { about }) => this.#command(about, text, () => this.#hear(text, '')),
        interrupt: (_agent, about) => this.#command(about, null, () => {}),
      },
    };
  }

  async #command(about: { [key: string]: Json }, typed: string | null, effect: () => void) {
    await this.#deed(about, typed, effect);
    return { id: 'i', agent: 'a-ps', outcome: 'confirmed' as const, reason: null, proof_ms: 1 };
  }

  /** Intent, effect, outcome: the daemon may die before and after each. */
  async #deed(about: { [key: string]: Json }, typed: string | null, effect: () => void): Promise<void> {
    this.#at();
    const deed = about.deed as HandoffDeed;
    const action = {
      id: `${this.#ledger.length}`,
      handoff: String(about.handoff),
      deed,
      after: Number(about.after),
      why: (about.why ?? null) as string | null,
      atMs: this.nowMs,
      outcomes: [] as HandoffAction['outcomes'],
      typed,
    };
    this.#ledger.push(action);
    this.#at();
    this.done.push(deed);
    effect();
    this.#at();
    action.outcomes.push({ outcome: 'confirmed', reason: null });
    this.#at();
  }

  #go(session: string): void {
    this.session = session;
  }

  /** An obedient agent, whose turn takes no time. */
  #hear(text: string, tag: string): void {
    this.#write({ kind: 'prompt', origin: 'typed', chars: text.length, tags: [tag] });
    const file = /(\/\S+\.md)/.exec(text)?.[1] ?? '';
    const asks = /write (a handoff|the whole) document/.test(text);
    if (this.isDeaf && !asks) {
      this.#write({ kind: 'turn-end', durationMs: 1, pendingSubagents: 0 });
      return;
    }
    const sign = { hash: 'h', target: file, act: asks ? 'change' : 'look', quick: true, edit: null } as const;
    this.#write({ kind: 'tool-call', id: tag, tool: asks ? 'Write' : 'Read', about: null, sign });
    if (asks) {
      mkdirSync(path.dirname(file), { recursive: true });
      const isGood = !this.isPoor || text.includes('not good yet');
      writeFileSync(file, document(isGood ? (/Nonce \((\w+)\)/.exec(text)?.[1] ?? '') : 'forgotten'));
      utimesSync(file, this.nowMs / 1000, this.nowMs / 1000);
      this.#wrote = true;
    }
    if (!asks) this.read = existsSync(file) ? readFileSync(file, 'utf8') : null;
    this.#write({ kind: 'tool-result', id: tag, isError: false, started: null });
    this.#write({ kind: 'reply', model: 'm', messageId: tag, usage: null, ends: true, text: 'Done.' });
  }

  #write(fact: SessionFact): void {
    const session = this.session ?? '';
    this.#record.set(session, [...(this.#record.get(session) ?? []), fact]);
    this.#tell(fact);
  }

  #tell(fact: SessionFact): void {
    this.#daemon?.told('a-ps', { atMs: this.nowMs, key: 'k', fact });
  }
}

function document(nonce: string): string {
  const parts = ['Goal', 'State', 'Decisions', 'Next step', 'Open files', 'Background work', 'How to verify'];
  const filled = parts.map((name) => `## ${name}\nWhat there is to say about it, in a line.\n`);
  return [...filled, '## Git HEAD\nnone\n', `## Nonce\n${nonce}\n`].join('\n');
}

/** The same handoff again and again, and each time the daemon dies a point later. */
async function killedEverywhere(made: () => MadeUp, check: (world: MadeUp, when: string) => void): Promise<void> {
  const whole = made();
  await handOver(whole);
  check(whole, 'not killed');
  for (let point = 1; point <= whole.points; point += 1) {
    const world = made();
    world.killAt = point;
    await handOver(world);
    check(world, `killed at ${point}, ${JSON.stringify(world.handoff?.steps.slice(-2))}`);
  }
}

async function handOver(world: MadeUp): Promise<void> {
  await world.start();
  await world.request();
  if (world.killed) {
    world.killed = false;
    await world.start();
    if (world.handoff === undefined) await world.request();
  }
  for (let n = 0; n < 400 && world.handoff !== undefined; n += 1) {
    if (['done', 'failed'].includes(stepOf(world.handoff))) return;
    await world.round();
  }
}

const count = (world: MadeUp, deed: string) => world.done.filter((each) => each === deed).length;

describe('a handoff', () => {
  it('goes its way, each thing done once', async () => {
    const world = new MadeUp();
    await handOver(world);
    expect(world.handoff?.steps.map(({ step }) => step)).toEqual([
      ...['requested', 'prompted', 'written', 'verified', 'saved', 'cleared', 'resumed', 'confirmed', 'done'],
    ]);
    expect(world.done).toEqual(['ask', 'clear', 'resume']);
    expect(world.points).toBeGreaterThan(25);
  });

  it(
    'whose daemon is killed at any point is done by the next one: one clear, after the document is stored',
    () =>
      killedEverywhere(
        () => new MadeUp(),
        (world, when) => {
          expect(stepOf(world.handoff as Handoff), when).toBe('done');
          expect([count(world, 'clear'), count(world, 'resume')], when).toEqual([1, 1]);
          expect(world.documents.get(world.handoff?.id ?? ''), when).toContain(world.handoff?.nonce);
        },
      ),
    60_000,
  );

  it(
    'with a poor document is sent back, and goes on, wherever the daemon dies',
    () =>
      killedEverywhere(
        () => Object.assign(new MadeUp(), { isPoor: true }),
        (world, when) => {
          expect(stepOf(world.handoff as Handoff), when).toBe('done');
          expect(world.handoff?.sentBack, when).toBe(1);
          expect([count(world, 'clear'), count(world, 'resume')], when).toEqual([1, 1]);
          expect(world.documents.get(world.handoff?.id ?? ''), when).toContain(world.handoff?.nonce);
        },
      ),
    60_000,
  );

  it(
    'that the fresh context does not take up ends in the old one, wherever the daemon dies',
    () =>
      killedEverywhere(
        () => Object.assign(new MadeUp(), { isDeaf: true }),
        (world, when) => {
          expect(world.handoff?.steps.at(-1), when).toMatchObject({ step: 'failed', reason: 'not-confirmed' });
          expect([count(world, 'clear'), count(world, 'go-back')], when).toEqual([1, 1]);
          expect(world.session, when).toBe('old');
        },
      ),
    60_000,
  );

  const elsewhere = path.join(dir, 'elsewhere');
  const tricks: [string, (file: string) => void][] = [
    ['removed', (file) => rmSync(file)],
    ['removed with its folder', (file) => rmSync(path.dirname(file), { recursive: true })],
    ['another text', (file) => writeFileSync(file, 'Do something else.')],
    [
      'a link',
      (file) => {
        renameSync(file, elsewhere);
        symlinkSync(elsewhere, file);
      },
    ],
  ];
  const isAsStored = (world: MadeUp, when: string) => {
    expect(stepOf(world.handoff as Handoff), when).toBe('done');
    expect([count(world, 'clear'), count(world, 'resume')], when).toEqual([1, 1]);
    expect(world.read, when).toBe(world.documents.get(world.handoff?.id ?? ''));
  };
  it.each(tricks)('whose document is %s after the clear goes on with what was stored', async (name, meanwhile) => {
    const world = Object.assign(new MadeUp(), { meanwhile });
    await handOver(world);
    isAsStored(world, name);
  });

  it(
    'whose document is removed after the clear goes on with it, wherever the daemon dies',
    () =>
      killedEverywhere(() => Object.assign(new MadeUp(), { meanwhile: (file: string) => rmSync(file) }), isAsStored),
    60_000,
  );

  it('whose document cannot be put back after the clear ends in the old context', async () => {
    const outside = mkdtempSync(path.join(dir, 'outside-'));
    const linkOut = (file: string) => {
      rmSync(path.dirname(file), { recursive: true });
      symlinkSync(outside, path.dirname(file));
    };
    const world = Object.assign(new MadeUp(), { meanwhile: linkOut });
    await handOver(world);
    expect(world.handoff?.steps.at(-1)).toMatchObject({ step: 'failed', reason: 'not-confirmed' });
    expect([world.session, count(world, 'resume'), readdirSync(outside).length]).toEqual(['old', 0, 0]);
  });

  it('is not begun in a directory that is not there, such as one whose name is only shown in part', async () => {
    const world = new MadeUp();
    world.shownAs = path.join(dir, '[redacted]');
    await world.start();
    await world.request();
    expect([world.handoff, existsSync(world.shownAs)]).toEqual([undefined, false]);
  });
});
