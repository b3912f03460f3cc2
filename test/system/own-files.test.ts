// What is ours is ours alone: whatever the umask, whoever made the directory, and whatever is said to the control socket.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeResult } from '../../src/watch/conformance-results.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { watchkeeperProgram } from '../clients/scenario.ts';
import { openStandIn } from './stand-in.ts';
import { answerMs, testWorld, type World } from './world.ts';

const isRoot = process.getuid?.() === 0;

/** The program, from a shell with this umask. */
function runUnder(umask: string, world: World, ...args: string[]) {
  const env = { ...emptyEnvironment(world.scenario.home), WATCHKEEPER_HOME: world.dataDir, TMUX_TMPDIR: world.dir };
  const line = ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, watchkeeperProgram, ...args];
  return spawnSync('sh', line, { env, cwd: world.scenario.home, encoding: 'utf8', timeout: 60_000 });
}

/** Whatever lies there, with its mode; links are nothing of their own. */
function modesIn(folder: string): [string, number][] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => existsSync(file))
    .map((file) => [path.relative(folder, file), lstatSync(file).mode & 0o777]);
}

/** One line to the control socket, and what it answers until it hangs up. */
function ask(socketPath: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = net.connect(socketPath, () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    socket.setTimeout(answerMs, () => reject(new Error(`no answer, but ${said}`)));
    socket.on('error', () => {});
    socket.on('close', () => resolve(said));
  });
}

const badRequests: [string, string][] = [
  ['no JSON', 'status'],
  ['nothing', ''],
  ['null', 'null'],
  ['a list', '["status"]'],
  ['a number', '7'],
  ['an unknown command', '{"ask":"fly"}'],
  ['a name that objects have', '{"ask":"constructor"}'],
  ['an agent that is no name', '{"ask":"prompt","agent":7,"said":"x","waitMs":0}'],
  ['no text', '{"ask":"prompt","agent":"worker-ps","waitMs":0}'],
  ['an unknown template', '{"ask":"prompt","agent":"worker-ps","said":{"template":"x","slots":{}},"waitMs":0}'],
  [
    'a slot that is no text',
    '{"ask":"prompt","agent":"worker-ps","said":{"template":"continue","slots":{"a":1}},"waitMs":0}',
  ],
  ['a wait without end', '{"ask":"prompt","agent":"worker-ps","said":"x","waitMs":1e300}'],
  ['a wait before the beginning', '{"ask":"prompt","agent":"worker-ps","said":"x","waitMs":-1}'],
  ['an unknown authority', '{"ask":"authority","agent":"worker-ps","authority":"root"}'],
  ['an authority that is a list', '{"ask":"authority","agent":"worker-ps","authority":["manage"]}'],
  ['every incident', '{"ask":"ack","id":"","denied":false}'],
  ['a stop that does not say how', '{"ask":"stop"}'],
  ['words that do not belong there', '{"ask":"status","agent":"worker-ps"}'],
  ['two requests', '{"ask":"status"}\n{"ask":"status"}'],
  ['a line of 2 MiB', `{"ask":"why","agent":"${'x'.repeat(2 * 1024 * 1024)}"}`],
];

describe.each(['000', '077'])('under umask %s', (umask) => {
  it('every file of ours is closed to others; the socket says of each bad request in one line that it is bad', async () => {
    const world = await testWorld();
    const configDir = path.join(world.dir, 'config');
    mkdirSync(configDir);
    expect(runUnder(umask, world, 'init', '--config-dir', configDir, '--statusline', '--instructions').status).toBe(0);
    const up = runUnder(umask, world, 'up', '--detach');
    expect(up.stderr).toContain('watching in the background');
    const agent = await openStandIn(world, 'worker-ps');
    agent.turn();
    await world.agentIs('worker-ps', (seen) => seen.last_turn === 'ok');
    expect(runUnder(umask, world, 'pause').status).toBe(0);
    const was = process.umask(Number.parseInt(umask, 8));
    const tried = { client: 'claude-code', client_version: '1', at: '', signals: [] } as const;
    writeResult(path.join(world.dataDir, 'conformance'), {
      ...tried,
      signals: [],
      unplayed: [],
      fused: { said: 0, right: 0, unknown: 0, dangerous: 0 },
    });
    process.umask(was);
    // The hook runs in the agent's process, and the daemon takes its file away at once.
    process.kill(world.daemonPid(), 'SIGSTOP');
    const script = path.join(world.dataDir, 'hooks', 'claude-code.sh');
    const hook = spawnSync('sh', ['-c', `umask ${umask}; exec "$0" hook`, script], {
      input: '{"hook_event_name":"Stop"}',
    });
    expect([hook.status, hook.stderr.toString()]).toEqual([0, '']);

    const modes = modesIn(world.dataDir);
    process.kill(world.daemonPid(), 'SIGCONT');
    const names = modes.map(([file]) => file);
    for (const name of [
      'daemon.json',
      'daemon.log',
      'daemon.lock',
      'daemon.sock',
      'paused',
      'pg.json',
      'allowances/answer',
    ])
      expect(names).toContain(name);
    expect(names.filter((name) => /^inbox\/.*hook$/.test(name))).toHaveLength(1);
    expect(names.filter((name) => /^installs\/.*json$/.test(name))).toHaveLength(2);
    expect(names).toContain('conformance/claude-code-1.json');
    const { cluster } = JSON.parse(readFileSync(path.join(world.dataDir, 'pg.json'), 'utf8')) as { cluster: string };
    // Behind a closed door, and of the server's user: in there only nobody else may write.
    const database = path.dirname(cluster);
    expect(lstatSync(database).mode & 0o777).toBe(0o700);
    expect(modesIn(database).filter(([, mode]) => (mode & 0o022) !== 0)).toEqual([]);
    const inside = path.relative(world.dataDir, database);
    const open = modes.filter(([file, mode]) => (mode & 0o077) !== 0 && !`${file}/`.startsWith(`${inside}/`));
    expect(open.map(([file, mode]) => `${file} ${mode.toString(8)}`)).toEqual([]);
    expect(modes.find(([file]) => file === 'daemon.sock')?.[1]).toBe(0o600);
    expect(lstatSync(world.dataDir).mode & 0o077 & ~(isRoot ? 0o011 : 0)).toBe(0);
    const holds = isRoot ? '/run/watchkeeper-0' : `/tmp/watchkeeper-${process.getuid?.()}`;
    expect(lstatSync(holds).mode & 0o777).toBe(0o700);
    // What is the user's own nobody else can write to either.
    expect(modesIn(configDir).filter(([, mode]) => (mode & 0o022) !== 0)).toEqual([]);

    if (umask === '077') return;
    const socket = path.join(world.dataDir, 'daemon.sock');
    for (const [name, text] of badRequests) {
      const said = await ask(socket, `${text}\n`);
      expect(said, name).toMatch(/^\{"error":"[^\n]{1,520}"\}\n$/);
    }
    expect(await ask(socket, '{"ask":"inbox"}\n')).toMatch(/^\{"v":1,"items":\[/);
    expect((await world.agent('worker-ps'))?.authority).toBe('manage');
  });
});

describe('whatever lies in the place of a file of ours, no command waits for it', () => {
  const names = [
    [
      ...['daemon.json', 'config-files.json', 'daemon.log', 'paused', 'installs/x.json', 'conformance/x.json'],
      ...['spool/x', 'inbox/1.hook', 'allowances/answer'],
    ],
    ['host.json', 'borrow.lock'],
    ['pg.json', 'daemon.lock'],
  ];
  const commands = [
    ...[['status'], ['health'], ['inbox'], ['doctor'], ['config', 'show'], ['db', 'url'], ['pause'], ['unpause']],
    ...[['uninstall'], ['up', '--detach'], ['down']],
  ];

  it.each(names.map((each) => [each]))(
    'FIFOs: %j',
    (those) => {
      const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'wk-test-')));
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      for (const name of those) {
        const file = path.join(home, 'data', name);
        mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        spawnSync('mkfifo', [file]);
      }
      // A database that is not there: nothing is to be left running.
      const database = { DATABASE_URL: 'postgresql://127.0.0.1:1/none' };
      const env = { ...emptyEnvironment(home), WATCHKEEPER_HOME: path.join(home, 'data'), ...database };
      for (const args of commands) {
        const options = { env, encoding: 'utf8', timeout: 10_000, killSignal: 'SIGKILL' } as const;
        const said = spawnSync(process.execPath, [watchkeeperProgram, ...args], options);
        expect([args, said.signal], said.stderr).toEqual([args, null]);
        // No stack, nor anything else that is a bug.
        expect(said.stderr, args.join(' ')).not.toMatch(/^\s+at |Error:/m);
      }
    },
    120_000,
  );
});

describe('a directory that others could change, or that cannot be, is refused in one line', () => {
  const base = () => {
    const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'wk-test-')));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return dir;
  };
  const made = (mode: number, ...names: string[]) => {
    const folder = path.join(base(), ...names);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, mode);
    return folder;
  };

  it.each<[string, () => string, RegExp]>([
    ['others write to it', () => made(0o777, 'data'), /can be written to by others/],
    [
      'others write to its parent',
      () => path.join(made(0o777, 'open'), 'data'),
      /lies below .*open, which others can write to/,
    ],
    [
      'a link leads to such a one',
      () => {
        const link = path.join(base(), 'link');
        symlinkSync(made(0o777, 'open'), link);
        return path.join(link, 'data');
      },
      /lies below .*open, which others can write to/,
    ],
    ['below /proc', () => '/proc/watchkeeper/data', /cannot be made/],
    ['in a process', () => '/proc/self/data', /cannot be made/],
    ['below /sys', () => '/sys/watchkeeper', /cannot be made/],
    ['below a file', () => '/dev/null/data', /cannot be made/],
    ...(isRoot
      ? ([
          ["another user's", () => owned(12_345, 12_345, 0o700), /belongs to uid 12345/],
          ["another group's, which writes", () => owned(0, 12_345, 0o770), /can be written to by others/],
        ] as [string, () => string, RegExp][])
      : []),
  ])('%s', (_name, folder, why) => {
    const home = folder();
    const before = existsSync(home) ? readdirSync(home) : null;
    for (const args of [['up'], ['pause']]) {
      // A database that is not there: nothing is to be left running where it is not refused.
      const env = {
        ...emptyEnvironment(base()),
        WATCHKEEPER_HOME: home,
        DATABASE_URL: 'postgresql://127.0.0.1:1/none',
      };
      const said = spawnSync(process.execPath, [watchkeeperProgram, ...args], {
        env,
        encoding: 'utf8',
        timeout: 10_000,
        killSignal: 'SIGKILL',
      });
      expect([args, said.status, said.signal]).toEqual([args, 2, null]);
      expect(said.stderr).toMatch(/^watchkeeper: the data directory [^\n]+\n$/);
      expect(said.stderr).toMatch(why);
      expect(said.stderr).toMatch(/set WATCHKEEPER_HOME/);
    }
    if (!home.startsWith('/proc')) expect(existsSync(home) ? readdirSync(home) : null).toEqual(before);
  });

  function owned(uid: number, gid: number, mode: number): string {
    const folder = made(mode, 'data');
    chownSync(folder, uid, gid);
    return folder;
  }
});
