import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import type { AgentView, Mode } from '../model/agent.ts';
import { HoldFiles } from '../record/hold-files.ts';
import { ownProcess } from '../record/own-process.ts';
import { Holds } from './holds.ts';

const base = mkdtempSync(path.join(os.tmpdir(), 'wk-holds-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const self = ownProcess();
if (self === null) throw new Error('no /proc');
/** This process stands for the agent: it lives. */
const living = agentView('idle', null, 1, { process: self });
const dead = agentView('ended', null, 1, { process: { ...self, pid: 4_194_303 } });

/** Daemons that share one folder and one clock. */
class Machine {
  nowMs = 1_000_000;
  readonly folder: string;
  readonly said: string[] = [];
  readonly taken: string[] = [];
  readonly #dead = new Set<string>();

  constructor(folder = path.join(mkdtempSync(path.join(base, 'm-')), 'holds')) {
    this.folder = folder;
  }

  daemon(name: string, how: { mode?: Mode; paused?: () => boolean } = {}): Holds {
    const process = { bootId: self?.bootId ?? '', pid: 1, startTicks: name };
    const holds = new Holds({
      files: new HoldFiles(this.folder),
      self: process,
      home: `/${name}`,
      bootMs: () => this.nowMs,
      isAlive: (other) => (other.pid === 1 ? !this.#dead.has(other.startTicks) : other.pid === self?.pid),
      mode: () => how.mode ?? 'act',
      paused: how.paused ?? (() => false),
      notice: (line) => this.said.push(line),
    });
    // As the typist does: under which number it is ours now.
    holds.onTaken((view) => this.taken.push(`${view.agent} by ${name} as ${holds.number(view)}`));
    return holds;
  }

  kill(name: string): void {
    this.#dead.add(name);
  }
}

const observed = (view: AgentView): AgentView => ({ ...view, authority: 'observe' });

describe('of two daemons one has the agent', () => {
  it('the first; the other one knows who', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    expect(one.standing(living)).toBe('ours');
    expect(two.standing(living)).toBe('elsewhere');
    expect(two.document('a-ps')).toMatchObject({ by: 'other', pid: 1, home: '/one', number: 1 });
    expect(machine.said).toEqual([expect.stringContaining('(pid 1, data in /one): it is only observed')]);
    expect(statSync(machine.folder).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(machine.folder, readdirSync(machine.folder)[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  it('until it dies: then the other, under a higher number', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    one.round([living]);
    two.round([living]);
    machine.kill('one');
    expect(two.round([living])).toEqual(['a-ps']);
    expect(two.document('a-ps')).toMatchObject({ by: 'us', number: 2 });
    // What the dead one has on its way is kept out, once.
    expect(machine.taken).toEqual(['a-ps by two as 2']);
  });

  it.each([
    ['for 30 s', 1_000],
    ['for an hour', 3_571_000],
  ])('until it has hung %s: it finds out before it does anything, however soon it comes back', (_long, thenMs) => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    expect(one.standing(living)).toBe('ours');
    machine.nowMs += 29_000;
    expect(two.standing(living)).toBe('elsewhere');
    machine.nowMs += thenMs;
    expect(two.standing(living)).toBe('ours');
    expect([one.standing(living), one.number(living)]).toEqual(['elsewhere', null]);
    machine.nowMs += 4_000;
    expect(one.standing(living)).toBe('elsewhere');
  });

  it('as long as it renews, whatever the other one tries', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    for (let round = 0; round < 40; round += 1) {
      one.round([living]);
      two.round([living]);
      expect([one.standing(living), two.standing(living)]).toEqual(['ours', 'elsewhere']);
      machine.nowMs += 6_000;
    }
    expect(one.document('a-ps').number).toBe(1);
  });

  it('and of many: one file says that their holder lives, the others stay as they are', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    const many = Array.from({ length: 50 }, (_, n) =>
      agentView('idle', null, 1, { agent: `${n}-ps`, process: { ...self, startTicks: `${n}` } }),
    );
    one.round(many);
    const holds = () => readdirSync(machine.folder).filter((name) => !name.startsWith('lives-'));
    const written = () => holds().map((name) => statSync(path.join(machine.folder, name)).ino);
    const before = written();
    for (let round = 0; round < 10; round += 1) {
      machine.nowMs += 9_000;
      one.round(many);
      two.round(many);
    }
    expect(written()).toEqual(before);
    expect(before).toHaveLength(50);
    expect(many.map((view) => two.standing(view))).toEqual(many.map(() => 'elsewhere'));
    machine.nowMs += 30_000;
    expect(many.map((view) => two.standing(view))).toEqual(many.map(() => 'ours'));
    expect(many.map((view) => one.standing(view))).toEqual(many.map(() => 'elsewhere'));
  });

  it('until it stops in good order, but for whom it is typing to', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    const other = agentView('idle', null, 1, { agent: 'b-ps', process: { ...self, startTicks: '5' } });
    one.round([living, other]);
    one.close(new Set(['b-ps']));
    expect([two.standing(living), two.standing(other)]).toEqual(['ours', 'elsewhere']);
    expect(two.document('a-ps').number).toBe(2);
    expect(one.standing(living)).toBe('none');
  });

  it('whoever may act before whoever may only tell', () => {
    const machine = new Machine();
    const [one, two, three] = [machine.daemon('one'), machine.daemon('two'), machine.daemon('three')];
    expect(one.standing(observed(living))).toBe('ours');
    expect(two.standing(living)).toBe('ours');
    expect(one.standing(observed(living))).toBe('elsewhere');
    expect(three.standing(living)).toBe('elsewhere');
  });

  it('not one that only watches, and a paused one takes none, but keeps what it has', () => {
    const machine = new Machine();
    let isPaused = true;
    const watching = machine.daemon('one', { mode: 'watch' });
    const paused = machine.daemon('two', { paused: () => isPaused });
    expect([watching.standing(living), paused.standing(living)]).toEqual(['none', 'none']);
    isPaused = false;
    expect(paused.standing(living)).toBe('ours');
    isPaused = true;
    machine.nowMs += 20_000;
    paused.round([living]);
    machine.nowMs += 20_000;
    expect(machine.daemon('three').standing(living)).toBe('elsewhere');
    expect(watching.standing(living)).toBe('elsewhere');
  });
});

describe('of an agent that has ended', () => {
  const ended = { ...dead, agent: 'a-ps' };
  const before = { ...living, process: ended.process };

  it('who had it tells of it, for as long as it lives', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    one.round([before]);
    two.round([before]);
    machine.nowMs += 3_600_000;
    one.round([ended]);
    two.round([ended]);
    expect([one.standing(ended), two.standing(ended)]).toEqual(['ours', 'elsewhere']);
    one.close(new Set());
    two.round([ended]);
    expect(two.standing(ended)).toBe('elsewhere');
    expect(readdirSync(machine.folder)).toEqual([]);
  });

  it('before either was started, one of them tells', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    expect([one.standing(ended), two.standing(ended)]).toEqual(['ours', 'elsewhere']);
  });

  it('and if it was killed, the other one', () => {
    const machine = new Machine();
    const [one, two] = [machine.daemon('one'), machine.daemon('two')];
    one.round([before]);
    two.round([before]);
    machine.kill('one');
    expect(two.round([ended])).toEqual(['a-ps']);
  });

  it('nothing is left when nobody tells of it any more', () => {
    const machine = new Machine();
    machine.daemon('one').round([before]);
    writeFileSync(path.join(machine.folder, `4194303-1-${self.bootId}.lock.new-ab`), '');
    machine.kill('one');
    machine.daemon('two').round([]);
    expect(readdirSync(machine.folder)).toEqual([]);
  });
});

describe('where nobody can know who has it, nothing is done, and the way out is said', () => {
  it.each<[string, (folder: string) => void, RegExp]>([
    ['a link', (folder) => symlinkSync(base, folder), /is no directory: remove it \(`rm -r .*`\)/],
    ['a file', (folder) => writeFileSync(folder, ''), /is no directory/],
    [
      'in a folder that others write to',
      (folder) => chmodSync(path.dirname(folder), 0o777),
      /lies below .*, which others can write to/,
    ],
    [
      'without its parent',
      (folder) => rmSync(path.dirname(folder), { recursive: true }),
      /cannot be used.*: make .* writable/,
    ],
  ])('%s', (_name, make, why) => {
    const machine = new Machine();
    make(machine.folder);
    const daemon = machine.daemon('one');
    expect(daemon.standing(living)).toBe('none');
    expect(daemon.document('a-ps').problem).toMatch(why);
    expect(machine.said).toEqual([expect.stringMatching(/^nothing is done to any agent/)]);
  });

  it.runIf(process.getuid?.() === 0)('of another user, who was there first', () => {
    const machine = new Machine();
    mkdirSync(machine.folder);
    chownSync(machine.folder, 12_345, 12_345);
    const daemon = machine.daemon('one');
    expect(daemon.standing(living)).toBe('none');
    expect(daemon.document('a-ps').problem).toMatch(/belongs to uid 12345: remove it/);
    expect(readdirSync(machine.folder)).toEqual([]);
  });

  it('what others could read is made ours alone', () => {
    const machine = new Machine();
    mkdirSync(machine.folder);
    chmodSync(machine.folder, 0o755);
    expect(machine.daemon('one').standing(living)).toBe('ours');
    expect(statSync(machine.folder).mode & 0o777).toBe(0o700);
  });

  it('what no daemon has written is no hold', () => {
    const machine = new Machine();
    machine.daemon('one').standing(living);
    const [name = ''] = readdirSync(machine.folder);
    for (const text of ['', '{', 'null', '{"holder":1}']) {
      writeFileSync(path.join(machine.folder, name), text);
      expect(machine.daemon(`after ${text}`).standing(living)).toBe('ours');
      expect(existsSync(path.join(machine.folder, `${name}.lock`))).toBe(false);
    }
  });

  it('a pipe in its place keeps nobody waiting', () => {
    const machine = new Machine();
    machine.daemon('one').standing(living);
    const [name = ''] = readdirSync(machine.folder);
    rmSync(path.join(machine.folder, name));
    execFileSync('mkfifo', [path.join(machine.folder, name)]);
    expect(machine.daemon('two').standing(living)).toBe('ours');
  });
});
