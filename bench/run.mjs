// `npm run bench [-- --write]`: what watching costs, against the plain way: one `tmux capture-pane` process per pane and
// tick. Both in one run, as ratios, because machines are noisy. --write keeps the table in docs/reports/bench.md.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const program = path.join(root, 'bin/watchkeeper');
const paneCounts = [1, 50, 200];
const seconds = 20;
const tickSeconds = 2;

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

async function openPanes(tmux, count) {
  await tmux('new-session', '-d', '-s', 'bench', '-x', '120', '-y', '40', 'sleep', '1000');
  for (let pane = 1; pane < count; pane += 1) await tmux('new-window', '-d', '-t', '=bench:', 'sleep', '1000');
  const { stdout } = await tmux('list-panes', '-a', '-F', '#{pane_id} #{pid}');
  const lines = stdout.trim().split('\n');
  return { ids: lines.map((line) => line.split(' ')[0]), server: Number(lines[0].split(' ')[1]) };
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
  await sleep(1_000);
  const before = cpuSeconds(child.pid) + cpuSeconds(server);
  await sleep(seconds * 1000);
  const used = cpuSeconds(child.pid) + cpuSeconds(server) - before;
  child.kill('SIGKILL');
  return used / seconds;
}

async function ourWay(env, server) {
  await run(program, ['up', '--detach'], { env });
  const { pid } = JSON.parse(readFileSync(path.join(env.WATCHKEEPER_HOME, 'daemon.json'), 'utf8'));
  const place = JSON.parse(readFileSync(path.join(env.WATCHKEEPER_HOME, 'pg.json'), 'utf8'));
  await sleep(3_000);
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
  return { used, memory };
}

async function measure(count) {
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
    const { ids, server } = await openPanes(tmux, count);
    const plain = await plainWay(socket, ids, server);
    const ours = await ourWay(env, server);
    return { count, plain, ...ours };
  } finally {
    await tmux('kill-server').catch(() => {});
    await run(program, ['down'], { env }).catch(() => {});
    rmSync(dir, { recursive: true, force: true });
  }
}

const percent = (share) => `${(share * 100).toFixed(2)} %`;
const rows = [];
for (const count of paneCounts) {
  process.stderr.write(`bench: ${count} panes\n`);
  const { plain, used, memory } = await measure(count);
  const watching = used.daemon + used.server;
  const ratio = watching === 0 ? 'too little to measure' : `${(plain / watching).toFixed(1)} ×`;
  rows.push(
    `| ${count} | ${percent(plain)} | ${percent(watching)} | ${ratio} | ${percent(used.database)} | ${memory.daemon.toFixed(0)} MB | ${memory.database.toFixed(0)} MB |`,
  );
}
const table = [
  '# What watching costs',
  '',
  `Written by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. CPU of one core over ${seconds} s, panes without an agent, a`,
  `tick of ${tickSeconds} s. The plain way starts one \`tmux capture-pane\` per pane and tick; ours is the daemon and what it costs the tmux`,
  'server. Memory is proportional set size. The clock of the kernel ticks at 10 ms, so small figures are coarse.',
  '',
  '| panes | plain way | watching | cheaper by | PostgreSQL | daemon | PostgreSQL memory |',
  '|---|---|---|---|---|---|---|',
  ...rows,
  '',
].join('\n');
process.stdout.write(table);
if (process.argv.includes('--write')) writeFileSync(path.join(root, 'docs/reports/bench.md'), table);
