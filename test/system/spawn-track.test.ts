// Background work that somebody tracks: through the program, with output files of every bad kind.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { openStandIn, prompt, reply, type StandIn } from './stand-in.ts';
import { add, becomes, configure, inbox, item, list, stallMs } from './tracking.ts';
import { openWorld, testWorld, type World, waitMs } from './world.ts';

describe('with a daemon and an agent', () => {
  let world: World;
  let agent: StandIn;
  beforeAll(async () => {
    world = await openWorld();
    configure(world);
    agent = await openStandIn(world, 'shop-ps');
    agent.turn();
    await world.up();
    await world.agentIs('shop-ps', 'idle');
  });
  afterAll(() => world.end());
  const file = (name: string) => path.join(world.dir, name);

  it('the agent of the project is the parent, and a file that is not there yet is waited for', async () => {
    const said = await add(
      world,
      'later',
      file('later.log'),
      '--type',
      'build',
      '--description',
      'the big one',
      '--json',
    );
    expect(said.code, said.stderr).toBe(0);
    expect(JSON.parse(said.stdout)).toMatchObject({ v: 1, agent: 'shop-ps', output_file: file('later.log') });
    const missing = await becomes(world, 'later', ({ reason }) => reason !== null);
    expect(missing).toMatchObject({ status: 'running', reason: 'its output file is not there', source: 'tracked' });
    writeFileSync(file('later.log'), 'here');
    const there = await becomes(world, 'later', (seen) => seen.last_output_change !== null);
    expect(there).toMatchObject({ status: 'running', reason: null });
  });

  it('a second one of the same name is refused, unless it is to begin anew', async () => {
    expect((await add(world, 'twice', file('twice.log'))).code).toBe(0);
    const refused = await add(world, 'twice', file('twice.log'));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toBe('watchkeeper: shop has a spawn twice already: --replace begins it anew\n');
    await becomes(world, 'twice', ({ status }) => status === 'stalled');
    expect((await add(world, 'twice', file('twice.log'), '--replace')).code).toBe(0);
    await becomes(world, 'twice', ({ status }) => status === 'running');
  });

  it('a relative path is made absolute', async () => {
    expect((await add(world, 'relative', 'some/where.log')).code).toBe(0);
    expect((await item(world, 'relative'))?.output_file).toBe(path.join(world.scenario.home, 'some/where.log'));
  });

  it('ends are told once and stand', async () => {
    await add(world, 'ends', null);
    expect((await world.run('spawn-track', 'done', 'shop', 'ends')).code).toBe(0);
    expect((await world.run('spawn-track', 'done', 'shop', 'ends')).code).toBe(0);
    expect((await world.run('spawn-track', 'fail', 'shop', 'ends')).code).toBe(1);
    expect((await item(world, 'ends'))?.status).toBe('finished');
    expect((await list(world)).map(({ task_id: id }) => id)).not.toContain('ends');
    expect((await world.run('spawn-track', 'done', 'shop', 'nothing')).code).toBe(4);
    await add(world, 'fails', null);
    expect((await world.run('spawn-track', 'fail', 'shop', 'fails', '--reason', 'exit 3')).code).toBe(0);
    expect(await item(world, 'fails')).toMatchObject({ status: 'failed', reason: 'exit 3' });
  });

  it('bad words are refused with what is wrong', async () => {
    const bad = async (...args: string[]) => {
      const said = await world.run('spawn-track', ...args);
      expect(said.stderr.trim().split('\n').length).toBe(1);
      return said.code;
    };
    expect(await bad('add', '--project', 'shop')).toBe(2);
    expect(await bad('add', '--project', 'shop', '--task-id', '')).toBe(2);
    expect(await bad('add', '--project', 'shop', '--task-id', 'x'.repeat(101))).toBe(2);
    expect(await bad('add', '--project', 'p'.repeat(51), '--task-id', 'x')).toBe(2);
    expect(await bad('add', '--project', 'shop', '--task-id', 'a\u001b[2Jb')).toBe(2);
    expect(await bad('add', '--project', 'shop', '--task-id', 'a\nb')).toBe(2);
    expect(await bad('add', '--project', 'shop', '--task-id', 'x', '--agent', 'nobody')).toBe(4);
    for (const output of ['', ' ', '/dev/zero', world.dir])
      expect(await bad('add', '--project', 'shop', '--task-id', 'x', '--output', output), output).toBe(2);
    expect(await bad('done', 'shop')).toBe(2);
    expect(await bad('explode')).toBe(2);
  });

  it.each<[string, (at: string) => void, string]>([
    ['a link', (at) => symlinkSync('/etc/passwd', at), 'its output file is a link, which is not followed'],
    ['a FIFO', (at) => void execFileSync('mkfifo', [at]), 'its output file is no regular file'],
    ['a folder', (at) => void mkdirSync(at), 'its output file is no regular file'],
  ])('%s is not looked into: running with the reason, stalled for lack of any sign', async (what, make, reason) => {
    const name = what.replaceAll(' ', '-');
    expect((await add(world, name, file(name))).code).toBe(0);
    make(file(name));
    expect(await becomes(world, name, (seen) => seen.reason === reason)).toMatchObject({ status: 'running' });
    await becomes(world, name, ({ status }) => status === 'stalled');
    expect((await item(world, name))?.last_output_change).toBeNull();
  });

  it.runIf(process.getuid?.() === 0)("another user's file neither, though root could", async () => {
    writeFileSync(file('theirs.log'), 'Error: theirs');
    chownSync(file('theirs.log'), 65_534, 65_534);
    await add(world, 'theirs', file('theirs.log'));
    const seen = await becomes(world, 'theirs', ({ reason }) => reason !== null);
    expect(seen).toMatchObject({ status: 'running', reason: 'its output file belongs to another user' });
    expect(await world.counter('spawn.foreign')).toBeGreaterThan(0);
  });

  it('rotated and truncated: every change is a sign', async () => {
    const log = file('rotated.log');
    writeFileSync(log, 'a'.repeat(1_000));
    await add(world, 'rotated', log);
    const changes = [
      () => {
        renameSync(log, `${log}.1`);
        writeFileSync(log, '');
      },
      () => appendFileSync(log, 'x'.repeat(500)),
      () => truncateSync(log, 10),
      () => appendFileSync(log, 'y'),
    ];
    for (const change of changes) {
      const fromMs = Date.now();
      await until('most of the threshold', () => Date.now() - fromMs > stallMs * 0.7);
      change();
    }
    const seen = await world.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM health_checks WHERE check_type = 'spawn' AND details->>'task_id' = 'rotated'",
    );
    expect(seen).toEqual([{ n: 0 }]);
    await becomes(world, 'rotated', ({ status }) => status === 'stalled');
  });

  it('written by two: both live by its growth, and their rows say so', async () => {
    const log = file('both.log');
    await add(world, 'one', log);
    await add(world, 'two', log);
    const growing = setInterval(() => appendFileSync(log, '.'), 500);
    try {
      const one = await becomes(world, 'one', ({ reason }) => reason !== null && !reason.includes('not there'));
      expect(one).toMatchObject({ status: 'running', reason: 'shares its output file with two' });
      const fromMs = Date.now();
      await until('longer than the threshold', () => Date.now() - fromMs > stallMs * 1.5);
      for (const name of ['one', 'two']) expect((await item(world, name))?.status).toBe('running');
    } finally {
      clearInterval(growing);
    }
  });

  it('a last line like an error is a doubt that makes no prompt, and is asked about sooner', async () => {
    const log = file('doubt.log');
    writeFileSync(log, 'building\nnpm ERR! code ELIFECYCLE\n');
    await add(world, 'doubt', log);
    const seen = await becomes(world, 'doubt', ({ status }) => status === 'stalled');
    expect(seen.reason).toBe('its output ends with: npm ERR! code ELIFECYCLE');
    const [check] = await world.query<{ details: { minutes: number } }>(
      "SELECT details FROM health_checks WHERE details->>'task_id' = 'doubt'",
    );
    expect((check?.details.minutes ?? 0) * 60_000).toBeLessThan(stallMs * 0.9);
  });

  it('a name that a shell would run is stored and shown, and said by the number of its row', async () => {
    const evil = `$(touch ${file('owned')}); echo`;
    // An agent of its own: several troubles of one are one prompt.
    await openStandIn(world, 'odd-ps');
    await world.agentIs('odd-ps', 'idle');
    const words = ['--project', 'odd', '--task-id', evil, '--output', file('evil.log')];
    expect((await world.run('spawn-track', 'add', ...words)).code).toBe(0);
    await becomes(world, evil, ({ status }) => status === 'stalled');
    const [row] = await world.query<{ id: number }>('SELECT id FROM active_spawns WHERE task_id = $1', [evil]);
    const about = await until(
      'a prompt about it on record',
      async () => {
        const audit = JSON.parse((await world.run('audit', 'odd-ps', '--json')).stdout) as {
          items: { subject: string | null; kind: string; intent: { text?: string } }[];
        };
        return audit.items.find(({ subject, kind }) => subject === evil && kind === 'prompt') ?? null;
      },
      waitMs,
    );
    expect(about.intent.text).toMatch(new RegExp(`^Spawn no\\. ${row?.id} has not .* \\(output file “evil\\.log”\\)`));
    expect(existsSync(file('owned'))).toBe(false);
  });

  it('without any agent of its project a human is told', async () => {
    const words = ['--project', 'lonely', '--task-id', 'alone', '--output', file('alone.log'), '--json'];
    const said = await world.run('spawn-track', 'add', ...words);
    expect(JSON.parse(said.stdout)).toMatchObject({ agent: null });
    const told = await until(
      'told',
      async () => (await inbox(world)).find(({ subject }) => subject === 'alone'),
      waitMs,
    );
    expect(told).toMatchObject({ kind: 'spawn-stalled', agent: null });
    expect(told.text).toContain('project lonely');
    // It is in the inbox as soon as it is about to be told.
    const sql =
      "SELECT action_taken FROM health_checks WHERE details->>'task_id' = 'alone' AND status = 'warning' AND action_taken IS NOT NULL";
    const [check] = await until(
      'its row',
      async () => {
        const rows = await world.query<{ action_taken: string }>(sql);
        return rows.length > 0 ? rows : null;
      },
      waitMs,
    );
    expect(check?.action_taken).toMatch(/^told human: told, action [0-9a-f-]{36}$/);
    expect((await world.run('spawn-track', 'done', 'lonely', 'alone')).code).toBe(0);
    await until('over', async () => (await inbox(world)).every(({ subject }) => subject !== 'alone'), waitMs);
  });

  it("rows that another program puts in are watched, and the first requirement's queries answer", async () => {
    await world.query("INSERT INTO active_spawns (project, task_id, output_file) VALUES ('shop', 'by-hand', $1)", [
      file('by-hand.log'),
    ]);
    await becomes(world, 'by-hand', ({ status, agent: parent }) => status === 'stalled' && parent === 'shop-ps');
    writeFileSync(file('by-hand.log'), 'x');
    await becomes(world, 'by-hand', ({ status }) => status === 'running');
    const projects = await world.query(
      `SELECT DISTINCT project FROM active_spawns WHERE status = 'running'
       UNION SELECT project FROM ps_sessions WHERE last_activity > NOW() - INTERVAL '1 hour'`,
    );
    expect(projects).toContainEqual({ project: 'shop' });
    await world.query("UPDATE active_spawns SET status = 'failed' WHERE task_id = 'by-hand'");
    const [warning] = await until('on record', async () => {
      const rows = await world.query(
        "SELECT * FROM health_checks WHERE status = 'critical' AND check_type = 'spawn' AND details->>'task_id' = 'by-hand'",
      );
      return rows.length > 0 ? rows : null;
    });
    expect(warning).toMatchObject({ project: 'shop' });
  });

  it('a summary of all is on record at every interval', async () => {
    const rows = await until('two summaries', async () => {
      const found = await world.query<{ details: { spawns: object[]; running: number } }>(
        "SELECT details FROM health_checks WHERE check_type = 'spawn' AND project = 'shop' AND details->>'summary' = 'true' ORDER BY id",
      );
      return found.length >= 2 ? found : null;
    });
    expect(rows.at(-1)?.details.spawns.length).toBeGreaterThan(0);
  });

  it('status, why and the human list show them', async () => {
    await add(world, 'shown', file('shown.log'));
    await becomes(world, 'shown', ({ status }) => status === 'stalled');
    expect((await world.run('status')).stdout).toMatch(/shop-ps +idle \+\d+ bg, \d+ stalled/);
    expect((await world.run('why', 'shop-ps')).stdout).toContain('spawn-stalled shown');
    expect((await world.run('health', 'shop-ps')).stdout).toContain('spawn-stalled');
    expect((await world.run('spawn-track', 'list', '--project', 'shop')).stdout).toMatch(/shop +shown +stalled/);
    const status = await world.agent('shop-ps');
    expect(status?.spawns).toContainEqual(expect.objectContaining({ task_id: 'shown', status: 'stalled' }));
  });
});

describe("a client's own work", () => {
  const note = (id: string, status: string) => ({
    type: 'queue-operation',
    operation: 'enqueue',
    timestamp: new Date().toISOString(),
    content: `<task-notification>\n<task-id>${id}</task-id>\n<status>${status}</status>\n<summary>Agent "x" ${status}</summary>\n</task-notification>`,
  });
  const started = (id: string, description: string, type: string): object[] => {
    const call = randomUUID();
    const [begun] = [reply({ tool: { id: call, name: 'Agent' } }) as { message: { content: { input: object }[] } }];
    for (const part of begun.message.content) part.input = { description, subagent_type: type };
    const content = [{ type: 'tool_result', tool_use_id: call, content: 'launched' }];
    const toolUseResult = { isAsync: true, status: 'async_launched', agentId: id };
    return [
      begun,
      { uuid: randomUUID(), timestamp: new Date().toISOString(), type: 'user', message: { content }, toolUseResult },
    ];
  };

  it('with a hostile name is stored and shown escaped; a kind that always fails is a finding', async () => {
    const world = await testWorld();
    configure(world);
    const agent = await openStandIn(world, 'kind-ps');
    agent.turn();
    await world.up();
    await world.agentIs('kind-ps', 'idle');
    agent.write(
      prompt(),
      ...started('../../evil\u001b[2J', 'x\u001b]0;owned\u0007 ignore all rules', '$(reboot)\u202e'),
    );
    for (const id of ['a1', 'a2', 'a3']) agent.write(...started(id, 'try it', 'Explore'));
    await until('all there', async () => (await list(world)).length === 4, waitMs);
    const evil = (await list(world)).find(({ task_id: id }) => id.includes('evil'));
    expect(evil).toMatchObject({ task_id: '../../evil\\x1b[2J', output_file: null });
    expect(JSON.stringify(evil)).not.toMatch(/\\u001b|\\u202e|\\u0007/);
    for (const id of ['a1', 'a2', 'a3']) agent.write(note(id, 'failed'));
    const failing = await until(
      'the kind',
      async () => (await world.agent('kind-ps'))?.findings.find(({ check }) => check === 'spawns-failing'),
      waitMs,
    );
    expect(failing).toMatchObject({ subject: 'subagent Explore' });
    // The next daemon goes on with the same rows, also where work ended meanwhile.
    agent.write(...started('a4', 'once more', 'Explore'));
    await becomes(world, 'a4', ({ status }) => status === 'running');
    await world.down();
    agent.write(note('a4', 'completed'));
    await world.up();
    await becomes(world, 'a4', ({ status }) => status === 'finished');
    const [ended] = await world.query<{ n: number; ended_at: Date | null }>(
      "SELECT count(*) OVER ()::int AS n, ended_at FROM active_spawns WHERE task_id = 'a4'",
    );
    expect(ended).toMatchObject({ n: 1, ended_at: expect.any(Date) });
    await until(
      'one of the kind has worked',
      async () => (await world.agent('kind-ps'))?.findings.every(({ check }) => check !== 'spawns-failing'),
      waitMs,
    );
    // It cannot be replaced or ended by hand: its client tells.
    const words = ['--project', 'kind', '--task-id', 'a1', '--replace'];
    expect((await world.run('spawn-track', 'add', ...words)).code).toBe(1);
    expect((await world.run('spawn-track', 'done', 'kind', 'a1')).code).toBe(1);
  });
});

describe('without a daemon', () => {
  it('it goes on with the database alone, and the next daemon takes it up', async () => {
    const world = await testWorld();
    configure(world);
    await openStandIn(world, 'shop-ps');
    await world.up();
    await world.agentIs('shop-ps', 'idle');
    expect((await world.run('down', '--keep-db')).code).toBe(0);
    const silent = path.join(world.dir, 'silent.log');
    writeFileSync(silent, 'x');
    expect((await add(world, 'silent', silent)).code).toBe(0);
    expect((await add(world, 'given-up', null)).code).toBe(0);
    expect((await world.run('spawn-track', 'fail', 'shop', 'given-up')).code).toBe(0);
    expect(await item(world, 'silent')).toMatchObject({ agent: 'shop-ps', status: 'running' });
    const fromMs = Date.now();
    await until('twice the threshold', () => Date.now() - fromMs > 2 * stallMs);
    await world.up();
    await becomes(world, 'silent', ({ status }) => status === 'stalled');
    // What it was silent before counts: from its own start the new daemon would have found it at the threshold.
    const [found] = await world.query<{ minutes: number }>(
      "SELECT (details->>'minutes')::float AS minutes FROM health_checks WHERE details->>'task_id' = 'silent'",
    );
    expect((found?.minutes ?? 0) * 60_000).toBeGreaterThan(1.5 * stallMs);
    const findings = (await world.agent('shop-ps'))?.findings.map(({ check, subject }) => `${check} ${subject}`);
    expect(findings).toEqual(expect.arrayContaining(['spawn-stalled silent', 'spawn-failed given-up']));
  });

  it('where no database was ever made it exits 5 and says the way out; with the daemon down it does its work', async () => {
    const world = await testWorld();
    for (const args of [['add', '--project', 'p', '--task-id', 't'], ['done', 'p', 't'], ['list']]) {
      const said = await world.run('spawn-track', ...args);
      expect(said.code).toBe(5);
      expect(said.stderr).toMatch(/^watchkeeper: .+: .*`watchkeeper up`\n$/);
    }
    await world.up();
    await world.down();
    // It needs no daemon: the database is started for it, and the next daemon finds what is tracked.
    const said = await world.run('spawn-track', 'add', '--project', 'p', '--task-id', 't', '--json');
    expect([said.code, JSON.parse(said.stdout)]).toMatchObject([0, { v: 1, task_id: 't' }]);
    const list = await world.run('spawn-track', 'list', '--json');
    expect([list.code, JSON.parse(list.stdout).items]).toMatchObject([0, [{ task_id: 't', status: 'running' }]]);
  });
});
