// What the tests need and a fresh machine may lack. Each answers null, or one line that names the way out.
import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { program, root, run } from './children.mjs';

const installMs = 10 * 60_000;

function say(line) {
  process.stderr.write(`test: ${line}\n`);
}

function onPath(name) {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

export async function bringDependencies() {
  const missing = ['vitest', 'typescript', 'knip', '@biomejs/biome'].find((name) => !existsSync(program(name, '')));
  return missing === undefined ? null : `${missing} is not installed: run \`npm ci\` first`;
}

export async function bringTmux() {
  if (onPath('tmux')) return null;
  if (!onPath('apt-get')) return 'tmux is missing: install it with the package manager of this system and run again';
  if (process.getuid?.() !== 0) return 'tmux is missing: run `sudo apt-get install tmux` and then this again';
  say('installing tmux');
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, limitMs: installMs };
  const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', 'tmux'], options);
  // A fresh image has no package lists, and old ones name files that are gone.
  if ((await install()).code !== 0) await run('apt-get', ['update'], options);
  if (onPath('tmux')) return null;
  const { output } = await install();
  if (onPath('tmux')) return null;
  process.stderr.write(output);
  return 'tmux could not be installed: see above, run `apt-get install tmux` and then this again';
}

function newest(folder) {
  const times = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const place = path.join(folder, entry.name);
    return entry.isDirectory() ? newest(place) : statSync(place).mtimeMs;
  });
  // A removed file shows only in its folder.
  return Math.max(statSync(folder).mtimeMs, ...times);
}

function isBuildFresh() {
  const built = statSync(path.join(root, 'dist/serve/cli/main.js'), { throwIfNoEntry: false })?.mtimeMs;
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];
  const sources = [newest(path.join(root, 'src')), ...settings.map((file) => statSync(path.join(root, file)).mtimeMs)];
  return built !== undefined && built >= Math.max(...sources);
}

export async function bringBuild() {
  if (isBuildFresh()) return null;
  say('building');
  const built = await run(process.execPath, ['scripts/build.mjs'], { show: true, limitMs: installMs });
  return built.code === 0 ? null : 'the build failed: see above';
}

export async function bringClients() {
  const installed = await run(process.execPath, ['scripts/install-clients.mjs'], { show: true, limitMs: installMs });
  return installed.code === 0 ? null : 'Claude Code could not be installed: see above';
}

/** Answers the path of its program; one that could not be brought fails when it is run. */
export async function bringNode24(folder) {
  const name = `node-${process.platform}-${process.arch}`;
  say('fetching Node 24');
  mkdirSync(folder, { recursive: true });
  const flags = ['--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  const installed = await run('npm', ['install', '--prefix', folder, ...flags, `${name}@24`], {
    cwd: folder,
    limitMs: installMs,
  });
  if (installed.code !== 0) process.stderr.write(installed.output);
  return path.join(folder, 'node_modules', name, 'bin/node');
}
