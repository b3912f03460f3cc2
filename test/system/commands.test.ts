// What others script against: exit codes, one line for every error, `--json` also for those, and the database for all.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { readPlace, rootOf } from '../../src/record/embedded/place.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { answerMs, openWorld, type World, waitMs } from './world.ts';

let world: World;
let agent: StandIn;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.end());

function databaseOf(home: string): { root: string; isOutside: boolean } {
  const place = readPlace(home);
  if (place === null) throw new Error('no database');
  const root = rootOf(place);
  return { root, isOutside: path.dirname(root) !== home };
}

interface Case {
  args: string[];
  code: number;
  word?: string;
}

/** One line on stderr; with --json the same as a document on stdout. */
async function fails({ args, code, word }: Case): Promise<void> {
  const said = await world.run(...args);
  expect(said.code, args.join(' ')).toBe(code);
  expect(said.stderr, args.join(' ')).toMatch(/^watchkeeper: [^\n]+\n$/);
  if (args.includes('--json')) {
    const { error, v } = JSON.parse(said.stdout);
    expect(v).toBe(1);
    expect(error).toEqual({ code: word, message: expect.stringMatching(/./) });
  } else {
    expect(said.stdout, args.join(' ')).toBe('');
  }
}

describe('before anything was ever started', () => {
  it.each<Case>([
    { args: ['status'], code: 3 },
    { args: ['status', '--json'], code: 3, word: 'no-daemon' },
    { args: ['health', '--json'], code: 3, word: 'no-daemon' },
    { args: ['events'], code: 5 },
    { args: ['events', '--json'], code: 5, word: 'no-database' },
    { args: ['db', 'url'], code: 5 },
    { args: ['db', 'export'], code: 5 },
    { args: ['nonsense'], code: 2 },
    { args: ['status', '--nonsense', '--json'], code: 2, word: 'usage' },
    { args: ['events', '--limit', 'many'], code: 2 },
    { args: ['health', '--filter', 'ugly'], code: 2 },
    { args: ['status', 'too', 'many'], code: 2 },
    { args: ['config', 'check', '/nonexistent.yaml'], code: 2 },
    { args: ['replay', '/nonexistent.jsonl', '--json'], code: 4, word: 'not-found' },
    { args: ['replay', import.meta.dirname], code: 4 },
    { args: ['eval', import.meta.dirname, '--json'], code: 4, word: 'not-found' },
  ])('$args is $code', fails);

  it.each([
    [['nonsense'], 'watchkeeper --help'],
    [['status', '--nonsense'], 'watchkeeper status --help'],
    [['health', '--filter', 'ugly'], 'watchkeeper health --help'],
    [['spawn-track', 'add', '--nonsense'], 'watchkeeper spawn-track add --help'],
  ])('a mistake in %j leads to the help of that command', async (args, help) =>
    expect((await world.run(...args)).stderr).toContain(`see \`${help}\``),
  );

  it.each([
    [['authority', 'x', 'god'], "value 'god' is invalid for argument 'level': allowed: observe, nudge, manage"],
    [['health', '--filter', 'ugly'], "option '--filter <which>' argument 'ugly' is invalid: allowed: unhealthy"],
    [['events', '--limit', '0'], "argument '0' is invalid: allowed: a whole number from 1 to 1000000"],
    [['inbox', 'x'], "too many arguments for 'inbox'"],
  ])('a mistake in %j is told with what is allowed', async (args, words) =>
    expect((await world.run(...args)).stderr).toContain(`${words}: see \`watchkeeper`),
  );

  it('the help keeps to 80 columns', async () => {
    const { stdout } = await world.run('--help');
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('down with nothing running is 0, and doctor without a daemon is 1', async () => {
    expect((await world.run('down')).code).toBe(0);
    const doctor = await world.run('doctor', '--json');
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.stdout)).toMatchObject({ v: 1, ok: false });
  });

  it('up with a bad configuration is 2 and starts nothing', async () => {
    const file = path.join(world.dir, 'bad.yaml');
    writeFileSync(file, 'tickSeconds: soon\n');
    world.env = { WATCHKEEPER_CONFIG: file };
    await fails({ args: ['up', '--detach'], code: 2 });
    world.env = {};
    expect((await world.run('status')).code).toBe(3);
  });

  it('up with a data directory that cannot be made is 2', async () => {
    world.env = { WATCHKEEPER_HOME: '/dev/null/nowhere' };
    await fails({ args: ['up', '--detach'], code: 2 });
    await fails({ args: ['up'], code: 2 });
    world.env = {};
  });
});

describe('with a daemon', () => {
  beforeAll(async () => {
    await world.up();
    // An empty list is no result: what reads stdout gets nothing, and people are told.
    for (const [command, words] of [
      ['events', 'nothing was seen yet'],
      ['prompts', 'nothing was said yet'],
      ['audit', 'nothing was done yet'],
    ] as const)
      expect(await world.run(command)).toMatchObject({ stdout: '', stderr: `watchkeeper: ${words}\n`, code: 0 });
    agent = await openStandIn(world, 'worker-ps');
    agent.turn();
    await world.agentIs('worker-ps', (seen) => seen.last_turn === 'ok');
    await until('rows', async () => (await world.run('events', 'worker-ps')).stdout.includes('turn-end'));
  });

  it.each<Case>([
    { args: ['health', 'nobody'], code: 4 },
    { args: ['status', 'nobody'], code: 4 },
    { args: ['health', 'nobody', '--json'], code: 4, word: 'not-found' },
    { args: ['events', 'nobody'], code: 4 },
    { args: ['events', 'nobody', '--json'], code: 4, word: 'not-found' },
    { args: ['audit', 'nobody', '--json'], code: 4, word: 'not-found' },
    { args: ['prompts', 'nobody'], code: 4 },
  ])('$args is $code', fails);

  it('yes is 0, an unhealthy agent makes --filter unhealthy 1', async () => {
    for (const args of [
      ['status'],
      ['status', 'worker-ps'],
      ['health'],
      ['health', 'worker-ps'],
      ['events'],
      ['doctor'],
      ['db', 'url'],
    ]) {
      expect((await world.run(...args)).code, args.join(' ')).toBe(0);
    }
    expect((await world.run('health', '--filter', 'unhealthy')).code).toBe(0);
    const { apiError, prompt } = await import('./stand-in.ts');
    agent.write(prompt(), apiError('overloaded'));
    await world.agentIs('worker-ps', (seen) => seen.findings.length > 0);
    const unhealthy = await world.run('health', '--filter', 'unhealthy', '--json');
    expect(unhealthy.code).toBe(1);
    expect(JSON.parse(unhealthy.stdout)).toMatchObject({ v: 1, items: [{ agent: 'worker-ps', status: 'warning' }] });
  });

  it('a prompt that was refused a moment ago is not shown as the next thing, but when it is tried again and why', async () => {
    // A stand-in has no box to type into.
    const why = await until('refused', async () => {
      const { stdout } = await world.run('why', 'worker-ps');
      return stdout.includes('refused (') ? stdout : null;
    });
    expect(why).toMatch(/next:\n {2}wait: refused \(no-input-box\) \(silent-stop\),\s+until [\d: -]+\n/);
    expect(why).not.toContain('prompt it');
  });

  it('`why` has what was found and done lately, who wanted it, how it ended and why', async () => {
    expect((await world.run('prompt', 'worker-ps', 'How far are you?')).code).toBe(1);
    const { stdout } = await world.run('why', 'worker-ps', '--json');
    const { found, done, ...now } = JSON.parse(stdout);
    expect(Object.keys(now)).toEqual([
      ...['v', 'agent', 'state', 'authority', 'evidence', 'fired', 'not_fired', 'hold', 'next', 'host'],
    ]);
    const open = { check: 'silent-stop', since: expect.any(String), until: null, ending: null };
    expect(found).toMatchObject([open]);
    const said = { kind: 'prompt', trigger: 'human', by: `human ${os.userInfo().username}` };
    // The rule may have tried again meanwhile.
    const refused = { outcome: 'refused', reason: 'no-input-box', proof: null };
    const byRule = { trigger: 'rule:silent-stop', by: 'rule', finding: found[0].id };
    expect(done).toEqual(
      expect.arrayContaining([{ ...said, ...refused }, byRule].map((one) => expect.objectContaining(one))),
    );
    const text = (await world.run('why', 'worker-ps')).stdout.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/found lately: [\d:]+ silent-stop: open; prompted 0 times, told 0 times/);
    expect(text).toContain(`prompt by ${said.by}: refused: no-input-box: How far are you?`);
    expect(text).toContain('prompt by rule:silent-stop: refused: no-input-box');
  });

  it('`why`, `inbox` and the grounds keep to 80 columns, but for commands to be pasted', async () => {
    const lost = await openStandIn(world, 'one-with-a-rather-long-name-for-a-session-of-its-own');
    await world.agentIs('one-with-a-rather-long-name-for-a-session-of-its-own', 'idle');
    process.kill(lost.pid, 'SIGKILL');
    const inbox = await until('somebody waits', async () => {
      const { stdout } = await world.run('inbox');
      return stdout.includes('one-with') ? stdout : null;
    });
    const others = [
      ['why', 'worker-ps'],
      ['accuracy', '--grounds'],
    ];
    const said = await Promise.all(others.map(async (args) => (await world.run(...args)).stdout));
    const lines = [inbox, ...said].join('\n').split('\n');
    for (const line of lines.filter((text) => !text.startsWith('  $ '))) {
      expect(line.length, line).toBeLessThanOrEqual(80);
    }
    expect(inbox.replace(/\s+/g, ' ')).toContain('ended without closing its session');
    // Whoever looks on at `up` reads it there.
    await until('it is told', () => world.log().includes('watchkeeper inbox'));
  });

  it('db export has every row of every table, and nothing else', async () => {
    // Nothing moves while both are read.
    process.kill(world.daemonPid(), 'SIGSTOP');
    try {
      const lines = (await world.run('db', 'export')).stdout.trim().split('\n');
      const exported = new Map<string, unknown[]>();
      for (const line of lines) {
        const { table, row } = JSON.parse(line) as { table: string; row: unknown };
        exported.set(table, [...(exported.get(table) ?? []), row]);
      }
      const tables = await world.query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      );
      expect(tables.length).toBeGreaterThan(7);
      for (const { name } of tables) {
        const rows = await world.query<{ row: unknown }>(`SELECT to_jsonb(t) AS row FROM ${name} t`);
        expect(exported.get(name) ?? [], name).toEqual(rows.map(({ row }) => row));
        exported.delete(name);
      }
      expect([...exported.keys()]).toEqual([]);
    } finally {
      process.kill(world.daemonPid(), 'SIGCONT');
    }
  });

  it('an agent is also called by its host and name, in every command; of another host it is said who has to be asked', async () => {
    const commands = [
      ...[['status'], ['health'], ['why'], ['events'], ['prompts'], ['audit'], ['context'], ['handoffs'], ['compact']],
      ...[
        ['can-accept', '--size', 'tiny'],
        ['interrupt', '--dry-run'],
        ['handoff', '--dry-run'],
        ['events', '--limit', '1'],
      ],
    ];
    const here = `${os.hostname()}/worker-ps`;
    const said = await Promise.all(commands.map(([command = '', ...more]) => world.run(command, here, ...more)));
    for (const [n, { code, stderr }] of said.entries())
      expect([0, 1], `${commands[n]?.join(' ')}: ${stderr}`).toContain(code);
    const tracked = ['spawn-track', 'add', '--project', 'worker', '--task-id', 'named', '--agent', here];
    expect((await world.run(...tracked)).code).toBe(0);
    for (const [command = '', ...more] of commands)
      expect(await world.run(command, 'elsewhere/worker-ps', ...more), command).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(/^watchkeeper: no agent `elsewhere\/worker-ps`[^\n]*\n$/),
      });
  });

  it('db url says the same in JSON', async () => {
    const url = (await world.run('db', 'url')).stdout.trim();
    expect(JSON.parse((await world.run('db', 'url', '--json')).stdout)).toEqual({ v: 1, url });
  });

  const psql = spawnSync('psql', ['--version']).status === 0;
  it.skipIf(!psql)('db url works with psql as it is', async () => {
    const url = (await world.run('db', 'url')).stdout;
    expect(url).toMatch(/^postgresql:\/\/watchkeeper@\/watchkeeper\?host=\/[^\n]+\n$/);
    const asked = spawnSync('psql', [url.trim(), '-Atc', "SELECT name FROM agents WHERE state <> 'ended'"], {
      encoding: 'utf8',
    });
    expect(asked).toMatchObject({ status: 0, stdout: 'worker-ps\n' });
  });

  it('a daemon that is stopped is exit 3 with one line, at once, and nobody waits for it', async () => {
    const pid = world.daemonPid();
    process.kill(pid, 'SIGSTOP');
    try {
      const status = await world.run('status', '--json');
      expect(status).toMatchObject({
        code: 3,
        stderr: `watchkeeper: the daemon (pid ${pid}) is stopped: \`kill -CONT ${pid}\` lets it go on\n`,
      });
      expect(status.ms).toBeLessThan(answerMs);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect((await world.run('status')).code).toBe(0);
  });

  it('after down: no daemon is 3, and the record is read all the same', async () => {
    await world.down();
    await fails({ args: ['status'], code: 3 });
    expect((await world.run('context', 'worker-ps')).stdout).toContain('worker-ps: 0% of 1M used');
    expect((await world.run('db', 'export')).stdout).toContain('"worker-ps"');
    // At the same time, and nothing is left running by any of them.
    const [prompts, events] = await Promise.all(['prompts', 'events'].map((command) => world.run(command)));
    expect(prompts?.stdout).toContain('How far are you?');
    expect(events?.stdout).toContain('turn-end');
    expect((await world.run('down')).stderr).toBe('watchkeeper: nothing was running\n');
  });

  it('`up` and `doctor` say where the database is', async () => {
    const up = await world.run('up', '--detach');
    const { root, isOutside } = databaseOf(world.dataDir);
    if (isOutside) expect(up.stderr).toContain(`, its database in ${root}; `);
    expect((await world.doctor()).checks.get('database')?.detail).toContain(`embedded in ${root}, as the user `);
  });

  it('who paused it, let it act again and stopped it is on record, also of when no daemon or database ran', async () => {
    const me = `human ${os.userInfo().username}`;
    await world.run('pause', '--reason', 'lunch');
    await world.down();
    await world.run('unpause');
    await world.run('pause');
    await world.up();
    await world.run('unpause');
    const words = async () => {
      const { items } = JSON.parse((await world.run('audit', '--json')).stdout);
      return items.filter(({ agent }: { agent: unknown }) => agent === null).slice(-5);
    };
    await until('all is on record', async () => (await words()).at(-1)?.kind === 'unpause', waitMs);
    const said = await words();
    expect(said.map(({ kind }: { kind: string }) => kind)).toEqual(['pause', 'stop', 'unpause', 'pause', 'unpause']);
    for (const word of said) expect(word).toMatchObject({ by: me, trigger: 'human', outcome: 'confirmed' });
    expect(said[0].intent).toMatchObject({ reason: 'lunch' });
    expect((await world.run('audit')).stdout).toMatch(new RegExp(`pause +${me} +confirmed +lunch`));
  });

  it('one that has ended is said to have, and when', async () => {
    const gone = await openStandIn(world, 'gone-ps');
    await world.agentIs('gone-ps', 'idle');
    process.kill(gone.pid, 'SIGKILL');
    await world.agentIs('gone-ps', 'ended');
    for (const command of [
      ['prompt', 'gone-ps', 'hello'],
      ['interrupt', 'gone-ps'],
      ['compact', 'gone-ps'],
    ])
      expect((await world.run(...command)).stdout).toMatch(/^refused: it ended \d+s ago, at [\d:]{8}/);
  });

  it('one command takes all of it away, wherever it is, but not while the daemon runs and nothing of others', async () => {
    const { root } = databaseOf(world.dataDir);
    expect(await world.run('uninstall', '--data')).toMatchObject({ code: 2 });
    expect(await world.run('uninstall', '--all', '--data')).toMatchObject({
      code: 1,
      stderr: 'watchkeeper: a daemon runs: stop it with `watchkeeper down`\n',
    });
    await world.down();
    const mine = path.join(world.dataDir, 'mine.txt');
    writeFileSync(mine, 'not of Watchkeeper');
    expect((await world.run('uninstall', '--all', '--data')).stderr).toContain(`${world.dataDir} stays`);
    expect(readdirSync(world.dataDir)).toEqual(['mine.txt']);
    expect(existsSync(root)).toBe(false);
    rmSync(mine);
    expect((await world.run('uninstall', '--all', '--data')).stdout).toBe(`removed: ${world.dataDir}\n`);
    expect(existsSync(world.dataDir)).toBe(false);
  });
});
