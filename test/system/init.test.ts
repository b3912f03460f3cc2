// `init` puts hooks, status line and the block for agents into the files of users; `uninstall` leaves each as it was.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hookEvents } from '../../src/clients/claude-code/hooks.ts';
import { eventsIn, setupWorld } from './setup-world.ts';

const fixtures = path.join(path.dirname(fileURLToPath(import.meta.url)), '../fixtures/settings');
const files = readdirSync(fixtures).filter((name) => name.endsWith('.json.txt'));

/** Nothing was taken out or moved, only put in between. A character may be written out that was an escape before. */
function isWithin(before: string, after: string): boolean {
  const plain = (text: string) =>
    text.replace(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  let at = 0;
  for (const character of plain(before).replaceAll(/\s/g, '')) {
    at = plain(after).indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

describe('settings as people have them are as they were after init and uninstall', () => {
  it('there are twenty of them', () => expect(files.length).toBeGreaterThanOrEqual(20));

  it.each(files)('%s', async (name) => {
    const world = setupWorld();
    const original = readFileSync(path.join(fixtures, name));
    world.put(world.settings, original);
    chmodSync(world.settings, 0o640);
    const before = world.look();
    const init = await world.run('init', '--json');
    if (name.includes('another-watchkeeper')) {
      expect(init).toMatchObject({ code: 1, stderr: expect.stringContaining('WATCHKEEPER_HOME=/srv/watch keeper') });
      expect(world.look()).toEqual(before);
      await world.good('init', '--force');
    } else expect(init.code, init.stderr).toBe(0);

    const installed = readFileSync(world.settings, 'utf8');
    expect(eventsIn(world.settings, world.script)).toBe(hookEvents.length);
    expect(isWithin(original.toString('utf8'), installed)).toBe(true);
    expect(installed.includes('\r\n')).toBe(original.includes('\r\n'));
    expect(statSync(world.settings).mode & 0o777).toBe(0o640);

    const time = statSync(world.settings, { bigint: true });
    const again = await world.run('init', ...(name.includes('another-watchkeeper') ? ['--force'] : []));
    expect(again.stdout).toContain('already there');
    expect(statSync(world.settings, { bigint: true })).toMatchObject({ ino: time.ino, mtimeNs: time.mtimeNs });

    expect((await world.good('uninstall')).stdout).toMatch(/^restored: /);
    expect(readFileSync(world.settings).equals(original)).toBe(true);
    expect(world.look()).toEqual(before);
  });
});

describe('settings with a second name', () => {
  it('are one file after init and after uninstall, also where somebody wrote to it meanwhile', async () => {
    const world = setupWorld();
    const second = path.join(world.home, 'dotfiles-settings.json');
    world.put(world.settings, '{"model": "opus"}\n');
    linkSync(world.settings, second);
    const isOne = () => expect(statSync(second).ino).toBe(statSync(world.settings).ino);
    await world.good('init');
    isOne();
    expect(eventsIn(second, world.script)).toBe(hookEvents.length);
    await world.good('uninstall');
    isOne();
    expect(readFileSync(second, 'utf8')).toBe('{"model": "opus"}\n');
    await world.good('init');
    writeFileSync(second, readFileSync(second, 'utf8').replace('"opus"', '"sonnet"'));
    await world.good('uninstall');
    isOne();
    expect(JSON.parse(readFileSync(second, 'utf8'))).toEqual({ model: 'sonnet' });
  });
});

describe('a project without settings', () => {
  it('gets them, and has none again after uninstall, nor a folder', async () => {
    const world = setupWorld();
    const init = await world.good('init');
    expect(init.stdout).toBe(`installed: ${world.settings} (hooks)\n`);
    expect(init.stderr).toContain('Running agents take the hooks up by themselves');
    expect(init.stderr).toContain('--notify');
    const { hooks } = JSON.parse(readFileSync(world.settings, 'utf8'));
    expect(Object.keys(hooks)).toEqual(hookEvents);
    const command = `'${world.script.replace("'", `'\\''`)}' hook`;
    for (const groups of Object.values(hooks))
      expect(groups).toEqual([{ hooks: [{ type: 'command', command, timeout: 5 }] }]);
    for (const place of ['hooks', 'inbox', 'installs'])
      expect(statSync(path.join(world.data, place)).mode & 0o777).toBe(0o700);
    expect(statSync(world.script).mode & 0o777).toBe(0o700);
    // The command as the client runs it: it ends well, and its event is in the inbox.
    execFileSync('/bin/sh', ['-c', command], { input: '{"session_id":"x"}' });
    const [event = ''] = readdirSync(path.join(world.data, 'inbox'));
    expect(readFileSync(path.join(world.data, 'inbox', event), 'utf8')).toContain('{"session_id":"x"}');

    expect((await world.json('uninstall')).items[0]).toMatchObject({ file: world.settings, did: 'restored' });
    expect(world.look()).toEqual({});
  });

  it('keeps a folder that was there, and one that got company', async () => {
    const world = setupWorld();
    mkdirSync(path.dirname(world.settings));
    await world.good('init');
    await world.good('uninstall');
    expect(Object.values(world.look())).toEqual(['folder']);
    rmSync(path.dirname(world.settings), { recursive: true });
    await world.good('init');
    world.put('.claude/commands/x.md', 'x');
    await world.good('uninstall');
    expect(existsSync(path.join(world.project, '.claude/commands/x.md'))).toBe(true);
    expect(existsSync(world.settings)).toBe(false);
  });

  it('after an edit in between keeps the edit and nothing of ours', async () => {
    const world = setupWorld();
    await world.good('init', '--statusline');
    const now = JSON.parse(readFileSync(world.settings, 'utf8'));
    expect(now.statusLine.command).toMatch(/claude-code\.sh' statusline$/);
    // As the client does when a person allows something for good.
    writeFileSync(world.settings, `${JSON.stringify({ ...now, permissions: { allow: ['Bash(ls:*)'] } }, null, 2)}\n`);
    expect(await world.did('uninstall')).toEqual(['removed']);
    expect(JSON.parse(readFileSync(world.settings, 'utf8'))).toEqual({ permissions: { allow: ['Bash(ls:*)'] } });
  });

  it('after an edit and another init keeps the edit too', async () => {
    const world = setupWorld();
    await world.good('init');
    const edited = { ...JSON.parse(readFileSync(world.settings, 'utf8')), model: 'opus' };
    writeFileSync(world.settings, JSON.stringify(edited));
    expect(await world.did('init')).toEqual(['already-there']);
    await world.good('uninstall');
    expect(readFileSync(world.settings, 'utf8')).toBe('{"model":"opus"}');
  });

  it('has none again when an edit left nothing else in it', async () => {
    const world = setupWorld();
    await world.good('init');
    writeFileSync(world.settings, `${readFileSync(world.settings, 'utf8')}\n\n`);
    expect(await world.did('uninstall')).toEqual(['removed']);
    expect(world.look()).toEqual({});
  });

  it.each<[string, (text: string) => string]>([
    ['as we wrote them', (text) => text],
    ['in another layout', (text) => JSON.stringify(JSON.parse(text))],
  ])('that has them from elsewhere with nothing but our hooks in them, %s, keeps its file', async (_how, written) => {
    const world = setupWorld();
    await world.good('init', '--instructions');
    const ours = Object.entries(world.look()).filter(([, what]) => what !== 'folder');
    expect(ours).toHaveLength(2);
    const hooks = written(readFileSync(world.settings, 'utf8'));
    // Checked out, copied or restored: what was known of them here is gone.
    rmSync(path.join(world.data, 'installs'), { recursive: true });
    writeFileSync(world.settings, hooks);
    await world.good('init', '--instructions');
    await world.good('uninstall');
    expect(JSON.parse(readFileSync(world.settings, 'utf8'))).toEqual({});
    expect(Object.keys(world.look())).toEqual(expect.arrayContaining(ours.map(([file]) => file)));
  });

  it('that somebody removed is forgotten', async () => {
    const world = setupWorld();
    await world.good('init');
    rmSync(path.dirname(world.settings), { recursive: true });
    expect(await world.did('uninstall')).toEqual(['gone']);
    expect(await world.did('uninstall')).toEqual(['nothing']);
    expect(readdirSync(path.join(world.data, 'installs'))).toEqual([]);
  });
});

it('a dry run prints the difference and changes nothing anywhere', async () => {
  const world = setupWorld();
  world.put(world.settings, '{\n  "model": "opus"\n}\n');
  const before = world.look(world.dir);
  const said = await world.good('init', '--dry-run', '--instructions');
  expect(said.stdout).toMatch(
    /^would be installed: .*\n--- .*\n\+\+\+ .*\n@@ -1,3 \+1,\d+ @@\n \{\n- {2}"model": "opus"\n\+ {2}"model": "opus",\n/,
  );
  expect(said.stdout).toContain('+<!-- watchkeeper:begin v1 -->');
  expect(world.look(world.dir)).toEqual(before);
});

describe("the user's own settings", () => {
  it('are those of ~/.claude, of CLAUDE_CONFIG_DIR, or of a named directory', async () => {
    const world = setupWorld();
    const [own, other] = [path.join(world.dir, 'own'), path.join(world.dir, 'other')];
    for (const folder of [own, other]) mkdirSync(folder);
    await world.good('init', '--user');
    world.env = { CLAUDE_CONFIG_DIR: own };
    await world.good('init', '--user');
    await world.good('init', '--config-dir', '../other');
    for (const folder of [path.join(world.home, '.claude'), own, other])
      expect(eventsIn(path.join(folder, 'settings.json'), world.script)).toBe(hookEvents.length);
    expect(world.look()).toEqual({});
    expect(await world.did('uninstall', '--all')).toEqual(['restored', 'restored', 'restored']);
    expect(world.look(world.home)).toEqual({});
    expect(world.look(own)).toEqual({});
    expect((await world.good('uninstall', '--all')).stdout).toBe('nothing is installed\n');
  });

  it('count in every project, so that nothing is installed there twice unless it is wished for', async () => {
    const world = setupWorld();
    world.put(path.join(world.home, '.claude/settings.json'), '{"model":"opus"}');
    await world.good('init', '--user');
    const covered = await world.good('init');
    expect(covered.stdout).toMatch(/^not needed: .*\.claude\/settings\.json count here too\)\n$/);
    expect(world.look()).toEqual({});
    expect(await world.did('init', '--force')).toEqual(['installed']);
    expect(await world.did('init')).toEqual(['already-there']);
    await world.good('uninstall');
    expect(world.look()).toEqual({});
    await world.good('uninstall', '--user');
    expect(readFileSync(path.join(world.home, '.claude/settings.json'), 'utf8')).toBe('{"model":"opus"}');
  });

  it('may have a status line that one of a project goes around, where that is wished for', async () => {
    const world = setupWorld();
    const line = { type: 'command', command: "echo 'mine'", padding: 3 };
    world.put(path.join(world.home, '.claude/settings.json'), JSON.stringify({ statusLine: line }));
    expect((await world.good('init')).stderr).toContain('--statusline goes around it');
    expect(JSON.parse(readFileSync(world.settings, 'utf8')).statusLine).toBeUndefined();
    await world.good('uninstall');
    await world.good('init', '--statusline');
    const { statusLine } = JSON.parse(readFileSync(world.settings, 'utf8'));
    expect(statusLine).toEqual({ ...line, command: expect.stringContaining(` statusline 'echo '\\''mine'\\'''`) });
    expect(execFileSync('/bin/sh', ['-c', statusLine.command], { input: '{"session_id":"x"}', encoding: 'utf8' })).toBe(
      'mine\n',
    );
  });
});

describe('a project within another', () => {
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder, stdio: 'pipe' });

  it("counts with the repository's own settings, as a further work tree does", async () => {
    const world = setupWorld();
    git(world.project, 'init', '-q');
    world.put('a/b/file', '');
    git(world.project, 'add', '.');
    git(world.project, 'commit', '-qm', 'x');
    const tree = path.join(world.dir, 'tree');
    git(world.project, 'worktree', 'add', '-q', tree);
    await world.good('init');
    for (const within of ['a/b', tree]) expect(await world.did('init', within)).toEqual(['covered']);
    expect(existsSync(path.join(tree, '.claude'))).toBe(false);
  });

  it('has settings of its own where no repository joins them, or another one parts them', async () => {
    const world = setupWorld();
    mkdirSync(path.join(world.project, 'plain'));
    mkdirSync(path.join(world.project, 'own'));
    git(path.join(world.project, 'own'), 'init', '-q');
    await world.good('init');
    for (const within of ['plain', 'own']) {
      expect(await world.did('init', within)).toEqual(['installed']);
      expect(existsSync(path.join(world.project, within, '.claude/settings.local.json'))).toBe(true);
    }
    expect(await world.did('uninstall', 'plain')).toEqual(['restored']);
    expect(eventsIn(world.settings, world.script)).toBe(hookEvents.length);
  });
});

describe('the block for agents', () => {
  it.each([
    ['neither file', [], ['CLAUDE.md']],
    ['CLAUDE.md', ['CLAUDE.md'], ['CLAUDE.md']],
    ['AGENTS.md', ['AGENTS.md'], ['AGENTS.md']],
    ['both', ['CLAUDE.md', 'AGENTS.md'], ['CLAUDE.md', 'AGENTS.md']],
  ])('goes where the instructions are: %s', async (_what, there, expected) => {
    const world = setupWorld();
    for (const name of there) world.put(name, Buffer.from('# Regeln\r\n\xfc latin\r\n', 'latin1'));
    const before = world.look();
    const did = await world.did('init', '--instructions');
    expect(did).toEqual(['installed', ...expected.map(() => 'installed')]);
    for (const name of expected)
      expect(readFileSync(path.join(world.project, name), 'utf8')).toContain('watchkeeper:begin v1');
    expect(await world.did('init', '--instructions')).toEqual(did.map(() => 'already-there'));
    await world.good('uninstall');
    expect(world.look()).toEqual(before);
  });

  it('of an older version is replaced, and text around it stays through edits', async () => {
    const world = setupWorld();
    const file = world.put(
      'CLAUDE.md',
      '# Rules\n\n<!-- watchkeeper:begin v0 -->\nold\n<!-- watchkeeper:end -->\n\nMore.\n',
    );
    expect(await world.did('init', '--no-hooks', '--instructions')).toEqual(['updated']);
    expect(existsSync(path.join(world.project, '.claude'))).toBe(false);
    writeFileSync(file, `${readFileSync(file, 'utf8')}Even more.\n`);
    await world.good('uninstall');
    expect(readFileSync(file, 'utf8')).toBe('# Rules\n\n\nMore.\nEven more.\n');
  });

  it('is there once where one file is a link to the other, and the link stays', async () => {
    const world = setupWorld();
    const agents = world.put('AGENTS.md', '# Rules\n');
    const link = path.join(world.project, 'CLAUDE.md');
    symlinkSync('AGENTS.md', link);
    expect(await world.did('init', '--no-hooks', '--instructions')).toEqual(['installed']);
    expect(readFileSync(agents, 'utf8').match(/watchkeeper:begin/g)).toHaveLength(1);
    await world.good('uninstall');
    expect(readFileSync(agents, 'utf8')).toBe('# Rules\n');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });
});

it('doctor says where hooks are, and what keeps them from running', async () => {
  const world = setupWorld();
  const hooks = () => world.hooksCheck();
  expect(await hooks()).toMatchObject({ ok: true, detail: expect.stringContaining('not installed') });
  await world.good('init', '--instructions');
  const claude = path.join(world.project, 'CLAUDE.md');
  expect(await hooks()).toMatchObject({
    ok: true,
    detail: `${world.settings}, ${claude}`.split(', ').toSorted().join(', '),
  });
  chmodSync(world.script, 0o600);
  expect(await hooks()).toMatchObject({ ok: false, fix: expect.stringContaining('watchkeeper init') });
  await world.good('init');
  expect(await hooks()).toMatchObject({ ok: true });
  writeFileSync(world.settings, `// mine\n${readFileSync(world.settings, 'utf8')}`);
  expect(await hooks()).toMatchObject({ ok: false, detail: expect.stringContaining('comments') });
  writeFileSync(world.settings, '{}');
  expect(await hooks()).toMatchObject({ ok: false, detail: expect.stringContaining('no hooks of ours') });
  await world.good('uninstall', '--all');
  expect(await hooks()).toMatchObject({ ok: true });
});
