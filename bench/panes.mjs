// What watching costs, against the plain way: one `tmux capture-pane` process per pane and tick.
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const program = path.join(root, 'bin/watchkeeper');
export const seconds = 20;
export const tickSeconds = 2;
/** Both ways: what a program costs in its first seconds is not what it costs. */
const warmUpMs = 15_000;

/** CPU seconds of a process, with the children it has waited for. */
function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / 100;
}

function megabytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}

function tree(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => tree(Number(child)))];
}

function postmasters(dir) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words[0]?.endsWith('/postgres') === true && words.some((word) => word.startsWith(dir));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** An idle client as far as watching goes: a process where its program lies, a registry entry and a transcript. */
async function openPanes(tmux, count, dir) {
  const claude = path.join(dir, 'lib/node_modules/@anthropic-ai/claude-code/bin/claude');
  mkdirSync(path.dirname(claude), { recursive: true });
  copyFileSync('/usr/bin/sleep', claude);
  const config = path.join(dir, 'home/.claude');
  const project = path.join(dir, 'project');
  const transcripts = path.join(config, 'projects', project.replaceAll(/[^a-zA-Z0-9]/g, '-'));
  for (const folder of [project, path.join(config, 'sessions'), transcripts]) mkdirSync(folder, { recursive: true });
  for (let pane = 0; pane < count; pane += 1) {
    await tmux('new-session', '-d', '-s', `agent${pane}`, '-c', project, '-x', '120', '-y', '40', claude, '1000');
  }
  const { stdout } = await tmux('list-panes', '-a', '-F', '#{pane_id} #{pid} #{pane_pid}');
  const panes = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  panes.forEach(([, , pid], index) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const sessionId = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const entry = {
      pid: Number(pid),
      sessionId,
      cwd: project,
      procStart,
      kind: 'interactive',
      version: '2.1.325',
      status: 'idle',
    };
    writeFileSync(
      path.join(config, 'sessions', `${pid}.json`),
      JSON.stringify({ ...entry, statusUpdatedAt: Date.now() }),
    );
    const said = {
      type: 'user',
      uuid: sessionId,
      timestamp: new Date().toISOString(),
      message: { role: 'user', content: 'hello' },
    };
    writeFileSync(path.join(transcripts, `${sessionId}.jsonl`), `${JSON.stringify(said)}\n`);
  });
  return { ids: panes.map(([id]) => id), server: Number(panes[0][1]) };
}

/** The way the first requirements have it: a process per pane, again and again. */
async function plainWay(socket, ids, server) {
  const script = `
    const { execFile } = require('node:child_process');
    const ids = ${JSON.stringify(ids)};
    const look = () => { for (const id of ids) execFile('tmux', ['-S', ${JSON.stringify(socket)}, 'capture-pane', '-p', '-t', id], () => {}); };
    look();
    setInterval(look, ${tickSeconds * 1000});`;
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  await sleep(warmUpMs);
  const before = cpuSeconds(child.pid) + cpuSeconds(server);
  await sleep(seconds * 1000);
  const used = cpuSeconds(child.pid) + cpuSeconds(server) - before;
  child.kill('SIGKILL');
  return used / seconds;
}

async function ourWay(env, server) {
  await run(program, ['up', '--detach'], { env });
  const { pid } = JSON.parse(readFileSync(path.join(env.WATCHKEEPER_HOME, 'daemon.json'), 'utf8'));
  const { stdout } = await run(program, ['status', '--json'], { env, maxBuffer: 64 * 1024 * 1024 });
  const seen = JSON.parse(stdout).agents.filter(({ state }) => state === 'idle').length;
  const place = JSON.parse(readFileSync(path.join(env.WATCHKEEPER_HOME, 'pg.json'), 'utf8'));
  await sleep(warmUpMs);
  const [postmaster] = postmasters(path.dirname(place.cluster));
  const database = () => tree(postmaster).reduce((sum, one) => sum + cpuSeconds(one), 0);
  const before = { daemon: cpuSeconds(pid), server: cpuSeconds(server), database: database() };
  await sleep(seconds * 1000);
  const used = {
    daemon: (cpuSeconds(pid) - before.daemon) / seconds,
    server: (cpuSeconds(server) - before.server) / seconds,
    database: (database() - before.database) / seconds,
  };
  const memory = { daemon: megabytes(pid), database: tree(postmaster).reduce((sum, one) => sum + megabytes(one), 0) };
  await run(program, ['down'], { env });
  return { seen, used, memory };
}

export async function measure(count) {
  const dir = mkdtempSync(path.join(tmpdir(), 'wk-bench-'));
  const socket = path.join(dir, `tmux-${process.getuid()}`, 'default');
  mkdirSync(path.dirname(socket), { mode: 0o700 });
  const home = path.join(dir, 'home');
  mkdirSync(home);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TERM: 'dumb',
    WATCHKEEPER_HOME: path.join(dir, 'data'),
    TMUX_TMPDIR: dir,
  };
  const tmux = (...args) => run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env });
  try {
    const { ids, server } = await openPanes(tmux, count, dir);
    const plain = await plainWay(socket, ids, server);
    const ours = await ourWay(env, server);
    return { count, plain, ...ours };
  } finally {
    await tmux('kill-server').catch(() => {});
    await run(program, ['down'], { env }).catch(() => {});
    rmSync(dir, { recursive: true, force: true });
  }
}
