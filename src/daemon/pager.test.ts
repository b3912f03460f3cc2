// People are told whether or not there is a database: with clocks that are made up, files that are real, and a database
// that is there or not.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { madeActions } from '../../test/runs/made-actions.ts';
import { found, madeBoard, see } from '../../test/runs/made-board.ts';
import { defaultConfig } from '../config/schema.ts';
import { until } from '../conform/until.ts';
import type { Board } from '../findings/board.ts';
import { HostFindings } from '../findings/host-findings.ts';
import type { Action, ActionOutcome } from '../model/action.ts';
import type { Deeds } from '../model/deeds.ts';
import type { Incident } from '../model/incident.ts';
import { fail, ok } from '../model/result.ts';
import type { Told } from '../model/telling.ts';
import { Spool } from '../rows/spool.ts';
import { WaitingRows } from '../rows/waiting-rows.ts';
import { Keeper } from '../rules/keeper.ts';
import { Scores } from '../rules/scores.ts';
import { Spoken } from '../rules/spoken.ts';
import { ownFiles } from '../sense/files.ts';

const [second, minute] = [1_000, 60_000];
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'wk-pager-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Rows as the database keeps them: nothing twice under one id. */
class Database {
  isAway = false;
  hangs = false;
  readonly #asleep: (() => void)[] = [];
  readonly actions = new Map<string, Action>();
  readonly outcomes: ActionOutcome[] = [];
  readonly incidents = new Map<string, Incident>();

  #deeds(finding: string): Deeds {
    const about = [...this.actions.values()].filter((action) => action.finding === finding);
    const told = about.filter(({ id }) => this.outcomes.some((one) => one.actionId === id && one.outcome === 'told'));
    const lastTellMs = told.length === 0 ? null : Math.max(...told.map(({ atMs }) => atMs));
    return { prompts: 0, lastPromptMs: null, tells: told.length, lastTellMs, isProved: true, leftovers: [] };
  }

  /** Whoever waits for it gets his answer. */
  wake(): void {
    for (const waiting of this.#asleep.splice(0)) waiting();
  }

  awake(): Promise<void> {
    return this.hangs ? new Promise((resolve) => this.#asleep.push(resolve)) : Promise.resolve();
  }

  get store() {
    const answer = async <T>(work: () => T) => {
      await this.awake();
      return this.isAway ? fail('unavailable', 'no such server') : ok(work());
    };
    const conclude = (outcome: ActionOutcome) => {
      const { actionId, atMs } = outcome;
      if (!this.outcomes.some((one) => one.actionId === actionId && one.atMs === atMs)) this.outcomes.push(outcome);
    };
    return {
      intend: (action: Action) => answer(() => void this.actions.set(action.id, action)),
      conclude: (outcome: ActionOutcome) => answer(() => conclude(outcome)),
      saveIncident: (incident: Incident) =>
        answer(() => void this.incidents.set(incident.id, structuredClone(incident))),
      openIncidents: () =>
        answer(() => structuredClone([...this.incidents.values()].filter(({ closedMs }) => closedMs === null))),
      deedsAbout: (findings: readonly string[]) =>
        answer(() => new Map(findings.map((finding) => [finding, this.#deeds(finding)]))),
      recentScores: () => answer(() => []),
      saveScore: () => answer(() => {}),
      storeTold: ({ incident, tellings }: Told) =>
        answer(() => {
          for (const { action, outcome } of tellings) {
            this.actions.set(action.id, this.actions.get(action.id) ?? action);
            if (outcome !== null) conclude({ actionId: action.id, ...outcome });
          }
          const known = this.incidents.get(incident.id);
          this.incidents.set(incident.id, {
            ...incident,
            ...known,
            tells: Math.max(known?.tells ?? 0, incident.tells),
          });
          return 'stored';
        }),
    };
  }
}

/** A daemon's part that tells people, started anew as often as it takes. */
class Pager {
  nowMs = viewNowMs;
  readonly database = new Database();
  readonly failures: unknown[] = [];
  /** In English: the trouble, and how long after the beginning. */
  readonly told: string[] = [];
  disk: string | null = null;
  waits: string | null = null;
  rows!: WaitingRows;
  keeper!: Keeper;
  board!: Board;
  #host!: HostFindings;
  readonly #config = { ...defaultConfig(), notify: [{ channel: 'c', type: 'command' as const, command: ['true'] }] };

  get spoolDir(): string {
    return path.join(dir, 'spool');
  }

  get spooled(): Told[] {
    return readdirSync(this.spoolDir).map((name) => JSON.parse(readFileSync(path.join(this.spoolDir, name), 'utf8')));
  }

  async start(): Promise<this> {
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs };
    const spool = new Spool(this.spoolDir, 'h', ownFiles(process.getuid?.() ?? 0));
    const failed = (error: unknown) => void this.failures.push(error);
    const flush = () => this.database.awake().then(() => !this.database.isAway);
    const store = this.database.store as never;
    this.rows = new WaitingRows({ store, spool, clock, flush, failed });
    const config = () => this.#config;
    const common = { host: 'h', hostName: 'h', clock, config, store: this.rows.store, flush };
    this.board = madeBoard({ ...common, failed });
    const parts = { ...common, board: this.board };
    const notice = (line: string) =>
      void this.told.push(`${Math.round((this.nowMs - viewNowMs) / second)} s: ${line.split(':')[0]}`);
    this.#host = new HostFindings(parts);
    this.keeper = new Keeper({
      ...parts,
      paused: () => false,
      quietUntilMs: () => null,
      spoken: new Spoken(parts),
      actions: madeActions({ ...parts, environment: { PATH: process.env.PATH }, notice }),
      isOneOfMany: () => null,
      hold: () => 'ours',
      isElsewhere: () => false,
      isReadUp: () => true,
      isHandedOver: () => false,
      scores: new Scores({ promptedBy: () => null, interruptedByUs: () => false, spawnStatus: () => null }),
      failed,
    });
    expect(await this.rows.restore()).toBe(true);
    await this.board.restore();
    return this;
  }

  /** So long, a look every so often. */
  async pass(ms: number, everyMs = 10 * second): Promise<void> {
    const endMs = this.nowMs + ms;
    for (; this.nowMs < endMs; this.nowMs += everyMs) {
      this.#look();
      this.keeper.round();
      await this.keeper.settled();
      this.rows.catchUp();
      await this.rows.settled();
    }
  }

  #look(): void {
    const view = agentView('waiting', 'permission', 1, { agent: 'a' });
    const evidence = [{ source: 'registry' as const, atMs: this.nowMs, text: this.waits ?? '' }];
    const findings = this.waits === null ? [] : [found('waiting-human', { sinceMs: this.nowMs, evidence })];
    see(this.board, [{ view: { ...view, reading: { ...view.reading, seenAtMs: this.nowMs } }, findings }]);
    const database = this.database.isAway ? 'no such server' : null;
    this.#host.look(this.board.views(), { database, disk: this.disk, servers: [] });
  }

  /** Every message on record, each with what came of it. */
  ledger(): string[] {
    const { actions, outcomes } = this.database;
    return [...actions.values()].map(
      ({ id, trigger }) =>
        `${trigger} ${outcomes.filter(({ actionId }) => actionId === id).map(({ outcome }) => outcome)}`,
    );
  }
}

describe('the database gone for an hour', () => {
  it('people are told in the usual time, once that it is away, and every row is there once afterwards', async () => {
    const pager = await new Pager().start();
    await pager.pass(minute);
    pager.database.isAway = true;
    await pager.pass(4 * minute);
    pager.waits = 'Bash: npm test';
    await pager.pass(56 * minute);
    expect(pager.told).toEqual(['90 s: host h has no database', '300 s: a waits for you', '2100 s: a waits for you']);
    expect(pager.database.actions.size).toBe(0);
    const ids = pager.spooled.flatMap(({ tellings }) => tellings.map(({ action }) => action.id));
    expect(ids).toHaveLength(3);

    pager.database.isAway = false;
    await pager.pass(minute);
    expect([...pager.database.actions.keys()].toSorted()).toEqual(ids.toSorted());
    expect(pager.ledger().toSorted()).toEqual([
      'rule:database-away told',
      'rule:waiting-human told',
      'rule:waiting-human told',
    ]);
    const incidents = [...pager.database.incidents.values()].map(({ check, tells, closedMs }) => [
      check,
      tells,
      closedMs !== null,
    ]);
    expect(incidents.toSorted()).toEqual([
      ['database-away', 1, true],
      ['waiting-human', 2, false],
    ]);
    expect(pager.spooled).toEqual([]);
    expect(pager.told).toHaveLength(3);
    expect(pager.failures).toEqual([]);
  });

  it('a restart in between knows who was told; a file that was stored already adds nothing', async () => {
    const pager = await new Pager().start();
    pager.database.isAway = true;
    pager.waits = 'Bash: npm test';
    await pager.pass(2 * minute);
    expect(pager.told).toHaveLength(2);
    const files = readdirSync(pager.spoolDir).map(
      (name) => [name, readFileSync(path.join(pager.spoolDir, name))] as const,
    );
    pager.database.isAway = false;
    for (let restart = 0; restart < 3; restart += 1) {
      await pager.start();
      await pager.pass(minute);
      // Killed between storing and removing.
      for (const [name, bytes] of files) writeFileSync(path.join(pager.spoolDir, name), bytes);
    }
    expect(pager.told).toHaveLength(2);
    expect(pager.ledger().toSorted()).toEqual(['rule:database-away told', 'rule:waiting-human told']);
  });

  it('a person’s word of that time holds, also after a restart', async () => {
    const pager = await new Pager().start();
    pager.database.isAway = true;
    pager.waits = 'Bash: npm test';
    await pager.pass(minute);
    const [waiting] = pager.board.open().filter(({ incident }) => incident.agent === 'a');
    if (waiting === undefined) throw new Error('nothing is open');
    await pager.keeper.acknowledge(waiting, false);
    await pager.pass(minute);
    pager.database.isAway = false;
    await pager.start();
    await pager.pass(120 * minute);
    expect(pager.told.filter((line) => line.includes('a waits for you'))).toHaveLength(1);
  });

  it('for less than half a minute, as when its server is started anew, is told nobody', async () => {
    const pager = await new Pager().start();
    for (let times = 0; times < 5; times += 1) {
      pager.database.isAway = true;
      await pager.pass(25 * second, 5 * second);
      pager.database.isAway = false;
      await pager.pass(25 * second, 5 * second);
    }
    expect(pager.told).toEqual([]);
  });

  it('that comes and goes is set apart after the third time', async () => {
    const pager = await new Pager().start();
    for (let times = 0; times < 8; times += 1) {
      pager.database.isAway = true;
      await pager.pass(minute);
      pager.database.isAway = false;
      await pager.pass(minute);
    }
    expect(pager.told.filter((line) => line.includes('no database'))).toHaveLength(4);
    expect(pager.told.at(-1)).toContain('host h has a trouble that comes and goes');
  });

  it('that hangs instead keeps nobody from being told', async () => {
    const pager = await new Pager().start();
    pager.database.hangs = true;
    pager.waits = 'Bash: npm test';
    const round = pager.pass(2 * second, second);
    await until('told', () => pager.told.length > 0, 10_000);
    pager.database.hangs = false;
    pager.database.wake();
    await round;
    await pager.pass(10 * second);
    expect(pager.told).toEqual(['0 s: a waits for you']);
    expect(pager.ledger()).toEqual(['rule:waiting-human told']);
  });

  it('what is typed still needs its row first', async () => {
    const pager = await new Pager().start();
    pager.database.isAway = true;
    for (const kind of ['prompt', 'command', 'interrupt'] as const) {
      const action: Action = {
        id: '00000000-0000-4000-8000-000000000000',
        atMs: 1,
        ...{ host: 'h', agent: 'a' },
        kind,
        trigger: 'human',
        intent: {},
        finding: null,
      };
      expect(await pager.rows.store.intend(action)).toMatchObject({ ok: false });
    }
  });
});

describe('the database and the disk gone', () => {
  it('people are told all the same, once, and the rows are there when the database is', async () => {
    const pager = await new Pager().start();
    writeFileSync(pager.spoolDir, 'no folder can be here');
    pager.database.isAway = true;
    pager.disk = 'ENOSPC: no space left on device';
    pager.waits = 'Bash: npm test';
    await pager.pass(3 * 60 * minute);
    const troubles = ['a waits for you', 'host h has a full disk', 'host h has no database'];
    expect(pager.told.map((line) => line.replace(/^\d+ s: /, '')).toSorted()).toEqual(troubles);
    pager.database.isAway = false;
    await pager.pass(10 * second);
    expect(pager.ledger().toSorted()).toEqual([
      'rule:database-away told',
      'rule:disk-full told',
      'rule:waiting-human told',
    ]);
  });
});

describe('what waits on the disk', () => {
  const away = async (text: string) => {
    const pager = await new Pager().start();
    pager.database.isAway = true;
    pager.waits = text;
    await pager.pass(10 * second);
    return pager;
  };

  it('is for nobody else’s eyes, and without secrets', async () => {
    const secret = `sk-${'a1B2'.repeat(10)}`;
    const pager = await away(`Bash: curl -H ${secret}`);
    const [name = ''] = readdirSync(pager.spoolDir);
    expect(statSync(path.join(pager.spoolDir, name)).mode & 0o777).toBe(0o600);
    expect(statSync(pager.spoolDir).mode & 0o777).toBe(0o700);
    expect(readFileSync(path.join(pager.spoolDir, name), 'utf8')).not.toContain(secret);
  });

  it('is bounded, however long it lasts', async () => {
    const pager = await away('Bash: npm test');
    await pager.pass(12 * 60 * minute, 5 * minute);
    expect(pager.spooled.map(({ tellings }) => tellings.length <= 20)).not.toContain(false);
    expect(pager.told.length).toBeGreaterThan(22);
  });

  it('is taken in only where it is a message of ours, whole and in its place', async () => {
    const pager = await away('Bash: npm test');
    const [name = ''] = readdirSync(pager.spoolDir).filter((one) =>
      readFileSync(path.join(pager.spoolDir, one), 'utf8').includes('waiting-human'),
    );
    const good = readFileSync(path.join(pager.spoolDir, name), 'utf8');
    rmSync(pager.spoolDir, { recursive: true });
    mkdirSync(pager.spoolDir);
    const put = (as: string, text: string) => writeFileSync(path.join(pager.spoolDir, as), text);
    const other = name.replace(/^./, (first) => (first === '0' ? '1' : '0'));
    put(name, good.replace('"kind":"notify"', '"kind":"prompt"'));
    put(other, good);
    put('x.json', good);
    put(`${name}.new`, good);
    put('half.json', good.slice(0, good.length / 2));
    symlinkSync('/etc/passwd', path.join(pager.spoolDir, 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa.json'));
    chmodSync(path.join(pager.spoolDir, 'x.json'), 0o644);
    pager.database.isAway = false;
    pager.waits = null;
    await pager.start();
    await pager.pass(minute);
    expect([pager.ledger(), [...pager.database.incidents.values()], pager.failures]).toEqual([[], [], []]);
    expect(readdirSync(pager.spoolDir)).not.toContain(`${name}.new`);
  });
});
