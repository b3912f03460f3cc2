// What is published, packed and installed somewhere else, does the main job there.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { processesIn } from '../../src/conform/processes.ts';
import { discardHome, newHome } from './embedded-home.ts';

const repository = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const npmFlags = ['--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];

interface Packed {
  filename: string;
  files: { path: string; mode: number }[];
}

let elsewhere: string;
let packed: Packed;
let installed: string;

beforeAll(async () => {
  elsewhere = mkdtempSync(path.join(os.tmpdir(), 'wk-package-'));
  // Without scripts: packing builds anew, and other tests run what is built.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', elsewhere];
  const { stdout } = await run('npm', pack, { cwd: repository });
  packed = (JSON.parse(stdout) as [Packed])[0];
  const folder = path.join(elsewhere, 'installed');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}\n');
  await run('npm', ['install', ...npmFlags, path.join(elsewhere, packed.filename)], { cwd: folder });
  installed = path.join(folder, 'node_modules', '.bin', 'watchkeeper');
}, 180_000);

afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

/** As someone does who has the package and nothing of this checkout. */
function asStranger(home: string) {
  const user = path.join(elsewhere, 'user');
  mkdirSync(user, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: user, WATCHKEEPER_HOME: home, TMUX_TMPDIR: user };
  return (...args: string[]) => run(installed, args, { cwd: user, env, timeout: 60_000 });
}

describe('the packed package', () => {
  it('holds what a user needs and nothing else', () => {
    const files = packed.files.map((file) => file.path);
    const needed = [
      'LICENSE',
      'README.md',
      'bin/watchkeeper',
      'docs/manual/README.md',
      'dist/serve/cli/main.js',
      'dist/record/migrations/0001_ground.sql',
      'schema/watchkeeper.schema.json',
    ];
    expect(files).toEqual(expect.arrayContaining(needed));
    const inside =
      /^(bin|dist|schema|docs\/(manual|reports))\/|^docs\/checks\.md$|^(LICENSE|README\.md|GUARANTEES\.md|CHANGELOG\.md|package\.json)$/;
    expect(files.filter((file) => !inside.test(file))).toEqual([]);
    expect(files.filter((file) => /\.test\.|\.ts$/.test(file))).toEqual([]);
    // npm links to it as it is, so it has to be a program already.
    expect((packed.files.find((file) => file.path === 'bin/watchkeeper')?.mode ?? 0) & 0o111).toBe(0o111);
  });

  it('brings every migration of the source', () => {
    const migrations = readdirSync(path.join(repository, 'src/record/migrations'));
    const files = packed.files.map((file) => file.path);
    expect(files).toEqual(expect.arrayContaining(migrations.map((name) => `dist/record/migrations/${name}`)));
  });

  it('runs elsewhere: version, up, status, down, and nothing is left running', async () => {
    const home = newHome();
    const watchkeeper = asStranger(home);
    onTestFinished(async () => {
      await watchkeeper('down').catch(() => {});
      await discardHome(home);
    });
    expect((await watchkeeper('--version')).stdout.trim()).toBe(project.version);
    await watchkeeper('up', '--detach');
    const status = JSON.parse((await watchkeeper('status', '--json')).stdout);
    expect(status).toMatchObject({ v: 1, daemon: { pid: expect.any(Number) } });
    await watchkeeper('down');
    await expect(watchkeeper('status', '--json')).rejects.toMatchObject({ code: 3 });
    expect(processesIn(path.dirname(home))).toEqual([]);
  });
});
