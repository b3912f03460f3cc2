// What `init` and `uninstall` cannot work on is one line with its cause and the way out, and nothing is changed.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openOwn, replaceOwn } from '../../src/act/install/own-file.ts';
import { type SetupWorld, setupWorld } from './setup-world.ts';

const isRoot = process.getuid?.() === 0;

/** One line on stderr and the same as a document; and the world is as it was. */
async function refused(world: SetupWorld, args: string[], code: number, words: RegExp): Promise<void> {
  const before = world.look(world.dir);
  const said = await world.run(...args, '--json');
  expect(said.stderr).toMatch(/^watchkeeper: [^\n]+: [^\n]+\n$/);
  expect(said.stderr).toMatch(words);
  expect(said.code).toBe(code);
  const { v, error } = JSON.parse(said.stdout);
  expect(v).toBe(1);
  expect(said.stderr).toContain(error.message);
  expect(world.look(world.dir)).toEqual(before);
}

describe('settings', () => {
  it.each<[string, string | Buffer, RegExp]>([
    ['that are no JSON', '{\n  "a": 1\n  "b": 2\n}', /not JSON \(line 3: a comma is missing\)/],
    ['that are half written', '{"permissions": {"allow": [', /not JSON/],
    ['that are a list', '[]', /not a JSON object/],
    ['that are a text', '"x"', /not a JSON object/],
    ['with hooks that are a list', '{"hooks": []}', /`hooks` that are no object/],
    ['with hooks of an event that are an object', '{"hooks": {"Stop": {}}}', /`hooks.Stop` that is no list/],
    ['with an entry without hooks', '{"hooks": {"Stop": [{"matcher": ""}]}}', /an entry in `hooks.Stop`/],
    ['that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /not UTF-8/],
    ['in UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /not UTF-8/],
    ['nested without end', '['.repeat(50_000), /nested deeper/],
    ['with a hostile key', '{"hooks": {"\\u001b[2J": 1}}', /no list/],
  ])('%s', async (_what, text, words) => {
    const world = setupWorld();
    world.put(world.settings, text);
    await refused(world, ['init'], 2, words);
    await refused(world, ['uninstall'], 2, words);
  });

  it('of 10 MB', async () => {
    const world = setupWorld();
    world.put(world.settings, '{}');
    truncateSync(world.settings, 10_000_000);
    await refused(world, ['init'], 2, /larger than 1 MB/);
  });

  it('that are read-only, or in a folder that is', async () => {
    const world = setupWorld();
    world.put(world.settings, '{}');
    chmodSync(world.settings, 0o444);
    await refused(world, ['init'], 2, /is read-only: allow writing/);
    // Nothing of ours is in it: there is nothing to take out.
    expect((await world.good('uninstall')).stdout).toContain('nothing');
    rmSync(world.settings);
    chmodSync(path.dirname(world.settings), 0o555);
    await refused(world, ['init'], 2, /\.claude is (read-only|not writable)/);
    rmSync(path.dirname(world.settings), { recursive: true });
    chmodSync(world.project, 0o555);
    await refused(world, ['init'], 2, /project is (read-only|not writable)/);
    chmodSync(world.project, 0o755);
  });

  it('in whose place is a directory, a FIFO or a file as their folder', async () => {
    const world = setupWorld();
    mkdirSync(world.settings, { recursive: true });
    await refused(world, ['init'], 2, /is a directory/);
    rmSync(world.settings, { recursive: true });
    expect(spawnSync('mkfifo', [world.settings]).status).toBe(0);
    await refused(world, ['init'], 2, /no regular file/);
    await refused(world, ['uninstall'], 2, /no regular file/);
    rmSync(path.dirname(world.settings), { recursive: true });
    world.put('.claude', 'a file');
    await refused(world, ['init'], 2, /\.claude is no directory/);
  });

  it.runIf(isRoot)('of another user', async () => {
    const world = setupWorld();
    world.put(world.settings, '{}');
    chownSync(world.settings, 65_534, 65_534);
    await refused(world, ['init'], 2, /belongs to another user/);
    await refused(world, ['uninstall'], 2, /belongs to another user/);
  });

  it('changed by somebody else in the same moment are not overwritten', () => {
    const world = setupWorld();
    world.put(world.settings, '{}');
    const opened = openOwn(world.settings);
    writeFileSync(world.settings, '{"permissions": {}}');
    expect(opened.ok && replaceOwn(opened.value, Buffer.from('{"ours": 1}'))).toMatchObject({
      ok: false,
      reason: 'changed',
    });
    expect(readFileSync(world.settings, 'utf8')).toBe('{"permissions": {}}');
    expect(Object.keys(world.look())).toHaveLength(2);
  });

  it('broken since init are left to a human, and put right once they are mended', async () => {
    const world = setupWorld();
    await world.good('init');
    const good = readFileSync(world.settings, 'utf8');
    writeFileSync(world.settings, good.slice(0, -10));
    await refused(world, ['uninstall'], 2, /not JSON/);
    writeFileSync(world.settings, good);
    expect(await world.did('uninstall')).toEqual(['restored']);
  });
});

describe('a link in the place of settings', () => {
  it('into a repository of dotfiles stays, and its target is changed and put right', async () => {
    const world = setupWorld();
    const target = world.put(path.join(world.dir, 'dotfiles/claude/settings.json'), '{"model": "opus"}\n');
    const link = path.join(world.home, '.claude/settings.json');
    mkdirSync(path.dirname(link));
    symlinkSync(target, link);
    expect(await world.did('init', '--user')).toEqual(['installed']);
    expect(readFileSync(target, 'utf8')).toContain('hooks');
    expect(readlinkSync(link)).toBe(target);
    expect(await world.did('uninstall', '--user')).toEqual(['restored']);
    expect(readFileSync(target, 'utf8')).toBe('{"model": "opus"}\n');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  it.each<[string, (world: SetupWorld) => string, RegExp]>([
    ['that leads nowhere', () => '/nonexistent/settings.json', /leads nowhere/],
    ['to itself', (world) => world.settings, /leads nowhere/],
    ['to another kind of file', (world) => world.put(path.join(world.home, '.bashrc'), '{}'), /another kind of file/],
    ['to a directory', (world) => path.dirname(world.put(path.join(world.dir, 'x.json/y'), '')), /is a directory/],
  ])('%s', async (_what, target, words) => {
    const world = setupWorld();
    mkdirSync(path.dirname(world.settings));
    symlinkSync(target(world), world.settings);
    await refused(world, ['init'], 2, words);
  });

  it.runIf(isRoot)('to a file of another user', async () => {
    const world = setupWorld();
    const target = world.put(path.join(world.dir, 'theirs.json'), '{}');
    chownSync(target, 65_534, 65_534);
    mkdirSync(path.dirname(world.settings));
    symlinkSync(target, world.settings);
    await refused(world, ['init'], 2, /belongs to another user/);
  });
});

describe('instructions', () => {
  it('with half a block, of another kind or not text keep init from all else too', async () => {
    const world = setupWorld();
    const file = world.put('CLAUDE.md', '<!-- watchkeeper:begin v1 -->\nhalf\n');
    await refused(world, ['init', '--instructions'], 2, /do not belong together/);
    writeFileSync(file, '\0binary');
    await refused(world, ['init', '--instructions'], 2, /no plain text/);
    rmSync(file);
    // Whoever wrote the project must not lead us into a file that a shell reads.
    symlinkSync(world.put(path.join(world.home, '.bashrc'), 'PS1=x\n'), file);
    await refused(world, ['init', '--instructions'], 2, /another kind of file/);
    await world.good('init');
    await world.good('uninstall');
    expect(readFileSync(path.join(world.home, '.bashrc'), 'utf8')).toBe('PS1=x\n');
  });
});

describe('options', () => {
  it.each<[string[], number, RegExp]>([
    [['init', '/nonexistent'], 4, /no directory/],
    [['uninstall', '/nonexistent'], 4, /no directory/],
    [['init', '/etc/hostname'], 2, /is no directory/],
    [['init', '.', '--user'], 2, /exclude each other/],
    [['init', '--user', '--config-dir', '.'], 2, /exclude each other/],
    [['init', '--config-dir', '/nonexistent'], 4, /no directory/],
    [['init', '--no-hooks'], 2, /nothing to do/],
    [['init', '--url', 'http://x'], 2, /a channel without its type/],
    [['init', '--notify', 'pigeon'], 2, /pigeon/],
    [['uninstall', '--all', '--user'], 2, /--all is everywhere/],
  ])('%j', async (args, code, words) => {
    await refused(setupWorld(), args, code, words);
  });
});

describe('the data directory', () => {
  it('that cannot be made leaves the settings alone', async () => {
    const world = setupWorld();
    world.env = { WATCHKEEPER_HOME: '/dev/null/nowhere' };
    await refused(world, ['init'], 2, /data directory cannot be made/);
  });

  it('of another Watchkeeper is named, and what it installed is taken out only by it', async () => {
    const world = setupWorld();
    const other = path.join(world.dir, 'other data');
    world.env = { WATCHKEEPER_HOME: other };
    await world.good('init');
    const installed = readFileSync(world.settings, 'utf8');
    world.env = {};
    await refused(world, ['init'], 1, /another Watchkeeper \(WATCHKEEPER_HOME=.*other data\)/);
    const left = await world.json('uninstall');
    expect(left.items[0]).toMatchObject({ did: 'nothing', detail: expect.stringContaining('other data') });
    expect(readFileSync(world.settings, 'utf8')).toBe(installed);
    world.env = { WATCHKEEPER_HOME: other };
    await world.good('uninstall');
    expect(world.look()).toEqual({});
  });

  it('with records that are no records is as good as without', async () => {
    const world = setupWorld();
    await world.good('init');
    for (const [name, text] of [
      ['a.json', 'no'],
      ['b.json', '{"v":1,"file":3}'],
      ['c.json', '[]'],
      ['d', ''],
    ])
      world.put(path.join(world.data, 'installs', name ?? ''), text ?? '');
    expect(await world.did('uninstall', '--all')).toEqual(['restored']);
    expect(world.look()).toEqual({});
  });
});

const canMount = isRoot && spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'wk-test', '/mnt']).status === 0;

describe.skipIf(!canMount)('a full disk', () => {
  function fullDisk(world: SetupWorld, folder: string): () => void {
    const place = path.join(world.dir, folder);
    mkdirSync(place, { recursive: true });
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'wk-test', place]).status).toBe(0);
    onTestFinished(() => void expect(spawnSync('umount', [place]).status).toBe(0));
    return () => void spawnSync('dd', ['if=/dev/zero', `of=${place}/ballast`, 'bs=4k']);
  }

  it('below the project keeps the old settings', async () => {
    const world = setupWorld();
    const fill = fullDisk(world, 'project');
    world.put(world.settings, '{"model": "opus"}\n');
    fill();
    // The inode is the same: nothing was half written in its place.
    const { ino } = statSync(world.settings);
    const said = await world.run('init');
    expect(said).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^watchkeeper: [^\n]*no space left on the disk: make room\n$/),
    });
    expect(readFileSync(world.settings, 'utf8')).toBe('{"model": "opus"}\n');
    expect(statSync(world.settings).ino).toBe(ino);
    expect(Object.keys(world.look())).toHaveLength(3);
    rmSync(path.join(world.project, 'ballast'));
    await world.good('init');
    await world.good('uninstall');
    expect(readFileSync(world.settings, 'utf8')).toBe('{"model": "opus"}\n');
  });

  it('below the data directory changes no settings, since they could not be put right', async () => {
    const world = setupWorld();
    world.put(world.settings, '{"model": "opus"}\n');
    const fill = fullDisk(world, path.basename(world.data));
    fill();
    const before = world.look();
    const said = await world.run('init');
    expect(said).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^watchkeeper: [^\n]*(no space left|ENOSPC)[^\n]*\n$/),
    });
    expect(world.look()).toEqual(before);
  });
});
