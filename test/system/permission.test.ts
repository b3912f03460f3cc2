// What a hook answers to a request for permission: yes to the one file the daemon allowed that client to write, and nothing
// to all else. Through the real script under a process of the client's name; each case costs what it costs the agent.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AllowanceWish, allow, withdraw } from '../../src/actions/allowances.ts';
import { hookScript } from '../../src/clients/claude-code/hook-script.ts';
import { parseInboxFile } from '../../src/clients/claude-code/hooks.ts';
import { until } from '../../src/conform/until.ts';
import { findHome, type Home } from '../../src/home/home.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { type Allowed, honest, odd, otherPaths, request } from './permission-requests.ts';
import { openWorld, type World } from './world.ts';

const yes = '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}\n';
const root = process.getuid?.() === 0;
let world: World;
let home: Home;
let inbox: string;
let script: string;
let of: Allowed;
let client: Client;

/** A process of the client's name that runs what it is told, as the client runs its hooks. */
class Client {
  readonly process = spawn(path.join(world.dir, 'claude'), ['--norc', '-s'], { stdio: ['pipe', 'pipe', 'ignore'] });
  readonly #codes = createInterface({ input: this.process.stdout });
  #calls = 0;

  get pid(): number {
    return this.process.pid ?? 0;
  }

  get startTicks(): string {
    return readProcess(this.pid)?.startTicks ?? '';
  }

  /** All that the hook says to this event. */
  async hook(body: string | Buffer, command = `'${script}' hook`): Promise<string> {
    this.#calls += 1;
    const call = path.join(world.dir, `call-${this.pid}-${this.#calls}`);
    writeFileSync(`${call}.in`, body);
    const ended = once(this.#codes, 'line');
    this.process.stdin.write(`${command} <'${call}.in' >'${call}.out' 2>&1; echo $?\n`);
    expect(await ended).toEqual(['0']);
    return readFileSync(`${call}.out`, 'utf8');
  }
}

beforeAll(async () => {
  world = await openWorld();
  home = findHome({ WATCHKEEPER_HOME: world.dataDir });
  await world.up();
  // Not the daemon's own, which takes everything away.
  inbox = path.join(world.dir, 'inbox');
  mkdirSync(inbox);
  script = path.join(world.dir, 'claude-code.sh');
  writeFileSync(script, hookScript(inbox, home.allowancesDir), { mode: 0o700 });
  const project = path.join(world.dir, 'project');
  const folder = path.join(project, '.watchkeeper', 'handoffs');
  of = { sessionId: randomUUID(), project, folder, file: path.join(folder, 'handoff-2026-01-02-03-04-05.md') };
  copyFileSync('/bin/bash', path.join(world.dir, 'claude'));
  client = new Client();
});
afterAll(async () => {
  client.process.kill('SIGKILL');
  await world.end();
});
beforeEach(fresh);

function fresh(): void {
  for (const name of readdirSync(inbox)) rmSync(path.join(inbox, name));
  rmSync(path.dirname(of.folder), { recursive: true, force: true });
  chmodSync(home.allowancesDir, 0o700);
  rmSync(allowance(), { force: true });
}

function allowed(other: Partial<AllowanceWish> = {}): string {
  const { pid, startTicks } = client;
  const done = allow(home, {
    pid,
    startTicks,
    sessionId: of.sessionId,
    file: of.file,
    untilMs: Date.now() + 600_000,
    ...other,
  });
  if (!done.ok) throw new Error(done.message);
  return done.value;
}

const allowance = () => path.join(home.allowancesDir, `${client.pid}-${client.startTicks}`);

/** The facts that the one file in the inbox tells. */
function told(): string | null {
  const [name = '', ...more] = readdirSync(inbox);
  expect(more).toEqual([]);
  const item = parseInboxFile(readFileSync(path.join(inbox, name), 'utf8'));
  return item?.kind === 'hook' ? item.hook.fact.kind : null;
}

describe('with an allowance', () => {
  it.each(honest)('yes: %s', async (_what, body) => {
    allowed();
    expect(await client.hook(body(of))).toBe(yes);
    expect(told()).toBe('allowed');
    expect(existsSync(of.file)).toBe(false);
  });

  it.each(otherPaths)('silent: the path is %s', async (_what, at) => {
    allowed();
    expect(await client.hook(request(of, {}, { file_path: at(of) }))).toBe('');
    expect(told()).toBe('permission');
  });

  it.each(odd)('silent: %s', async (_what, body) => {
    allowed();
    expect(await client.hook(body(of))).toBe('');
  });

  it('whatever the environment of the agent says to Node', async () => {
    allowed();
    const mark = path.join(world.dir, 'required');
    writeFileSync(`${mark}.cjs`, `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`);
    const options = `NODE_OPTIONS='--require ${mark}.cjs' WATCHKEEPER_HOME=/nowhere`;
    expect(await client.hook(request(of), `${options} '${script}' hook`)).toBe(yes);
    expect(existsSync(mark)).toBe(false);
  });

  it('only the client it is for: not one within it, nor one beside it, nor one nobody knows', async () => {
    allowed();
    const within = path.join(world.dir, 'claude');
    expect(await client.hook(request(of), `'${script}' hook`)).toBe(yes);
    expect(await client.hook(request(of), `'${within}' -c "'${script}' hook; true"`)).toBe('');
    const unknown = path.join(world.dir, 'something');
    if (!existsSync(unknown)) copyFileSync('/bin/bash', unknown);
    expect(await client.hook(request(of), `'${unknown}' -c "'${script}' hook; true"`)).toBe('');
    const other = new Client();
    try {
      expect(await other.hook(request(of))).toBe('');
    } finally {
      other.process.kill('SIGKILL');
    }
  });

  it('a status line is never answered', async () => {
    allowed();
    expect(await client.hook(request(of), `'${script}' statusline`)).toBe('');
  });
});

describe('silent without a good allowance:', () => {
  const tampered: [string, () => void][] = [
    ['there is none', () => withdraw(home, allowed())],
    ['it has expired', () => allowed({ untilMs: Date.now() - 1 })],
    ['it is for an earlier process of that number', () => allowed({ startTicks: '1' })],
    ['it is for another file', () => allowed({ file: path.join(of.folder, 'other.md') })],
    ['it is for another session', () => allowed({ sessionId: randomUUID() })],
    ['it is of another boot', () => rewrite({ bootId: randomUUID() })],
    ['it is of another version', () => rewrite({ v: 2 })],
    ['it does not say until when', () => rewrite({ untilMs: undefined })],
    ['it says so in words', () => rewrite({ untilMs: '9999999999999' })],
    ['it names another process', () => rewrite({ pid: process.pid })],
    ['it is empty', () => spoiled(() => writeFileSync(allowance(), ''))],
    ['it is no JSON', () => spoiled(() => writeFileSync(allowance(), 'allow'))],
    ['it is huge', () => rewrite({ more: 'x'.repeat(100_000) })],
    ['others may write to it', () => spoiled(() => chmodSync(allowance(), 0o666))],
    ['others may read it', () => spoiled(() => chmodSync(allowance(), 0o644))],
    ['others may look into the folder', () => spoiled(() => chmodSync(home.allowancesDir, 0o755))],
    ['it is a link', () => linked((from, to) => symlinkSync(from, to))],
    ['it has two names', () => linked((from, to) => linkSync(from, to))],
    ['the file is a link', () => spoiled(() => symlinkSync('/etc/hostname', of.file))],
    ['the file is a link to nothing', () => spoiled(() => symlinkSync(path.join(world.dir, 'nothing'), of.file))],
    ['the file has two names', () => spoiled(() => linkSync(script, of.file))],
    ['the file is a folder', () => spoiled(() => mkdirSync(of.file))],
    ['its folder is a link', () => spoiled(() => moved(of.folder))],
    ['a folder above is a link', () => spoiled(() => moved(path.dirname(of.folder)))],
    ['its folder is gone', () => spoiled(() => rmSync(of.folder, { recursive: true }))],
    ...(root
      ? ([['it is of another user', () => spoiled(() => chownSync(allowance(), 65_534, 65_534))]] as [
          string,
          () => void,
        ][])
      : []),
  ];
  it.each(tampered)('%s', async (_what, tamper) => {
    tamper();
    expect(await client.hook(request(of))).toBe('');
    expect(told()).toBe('permission');
  });

  function rewrite(fields: Record<string, unknown>): void {
    allowed();
    const now = JSON.parse(readFileSync(allowance(), 'utf8'));
    writeFileSync(allowance(), JSON.stringify({ ...now, ...fields }));
  }

  function linked(make: (from: string, to: string) => void): void {
    allowed();
    const aside = path.join(world.dir, `aside-${randomUUID()}`);
    renameSync(allowance(), aside);
    make(aside, allowance());
  }

  function spoiled(spoil: () => void): void {
    allowed();
    spoil();
  }

  function moved(from: string): void {
    const to = `${world.dir}/moved-${randomUUID()}`;
    renameSync(from, to);
    symlinkSync(to, from);
  }
});

it('a place that is not plain is not allowed in the first place, and its folder is made by us', () => {
  const { pid, startTicks } = client;
  const wish = { pid, startTicks, sessionId: of.sessionId, untilMs: Date.now() + 600_000 };
  const project = path.join(world.dir, 'odd');
  const link = path.join(project, 'link');
  mkdirSync(project);
  symlinkSync(world.dir, link);
  const bad = ['x.md', `${project}/../x.md`, `${project}/x.md/`, `${link}/a/x.md`, `${project}/a\nb.md`, link, project];
  for (const place of bad) expect(allow(home, { ...wish, file: place }).ok, place).toBe(false);
  expect(readdirSync(project)).toEqual(['link']);
  expect(existsSync(path.join(world.dir, 'a'))).toBe(false);
  expect(existsSync(allowance())).toBe(false);
  expect(allow(home, { ...wish, file: path.join(project, 'a', 'b', 'x.md') }).ok).toBe(true);
  expect(readdirSync(path.join(project, 'a', 'b'))).toEqual([]);
});

it('an allowance is replaced by the next one, which the id of the first does not withdraw', async () => {
  const first = allowed({ file: path.join(of.folder, 'first.md') });
  const second = allowed();
  withdraw(home, first);
  expect(await client.hook(request(of))).toBe(yes);
  withdraw(home, second);
  withdraw(home, second);
  expect(await client.hook(request(of))).toBe('');
  withdraw(home, '../../x');
});

it('paused, or with the daemon down, nothing is allowed; a new daemon withdraws what belongs to no open handoff', async () => {
  allowed();
  expect(await client.hook(request(of))).toBe(yes);
  await world.run('pause');
  expect(await client.hook(request(of))).toBe('');
  await world.run('unpause');
  expect(await client.hook(request(of))).toBe(yes);
  const other = { startTicks: '1', pid: process.pid };
  allowed(other);
  writeFileSync(path.join(home.allowancesDir, '1-1'), 'junk');
  process.kill(world.daemonPid(), 'SIGKILL');
  await until('the daemon is gone', () => readProcess(world.daemonPid()) === null);
  expect(await client.hook(request(of))).toBe('');
  await world.up();
  expect(readdirSync(home.allowancesDir)).toEqual(['answer']);
  expect(await client.hook(request(of))).toBe('');
  allowed();
  expect(await client.hook(request(of))).toBe(yes);
  const answer = path.join(home.allowancesDir, 'answer');
  for (const broken of ['exec /nowhere/node x\n', 'exit 1\n', 'echo oops >&2; exit 3\n', ')(\n']) {
    writeFileSync(answer, broken);
    expect(await client.hook(request(of))).toBe('');
  }
  rmSync(answer);
  expect(await client.hook(request(of))).toBe('');
});
