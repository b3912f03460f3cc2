// Each check's own record, through the program: findings that hold still, how they end, and what came and went too often.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import type { AccuracyDocument } from '../../src/findings/accuracy.ts';
import { apiError, openStandIn, prompt, reply, retry, type StandIn, turnEnd } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

type Item = AccuracyDocument['items'][number];

let world: World;

beforeAll(async () => {
  world = await openWorld();
  const file = path.join(world.dir, 'config.yaml');
  // Minutes shortened to seconds.
  const waiting = { notifyMinutes: 0.01, repeatMinutes: 60 };
  writeFileSync(
    file,
    JSON.stringify({ tickSeconds: 0.5, waiting, stall: { thinkingMinutes: 0.02, toolMinutes: 0.02 } }),
  );
  world.env = { ...world.env, WATCHKEEPER_CONFIG: file };
});
afterAll(() => world.end());

async function items(...args: string[]): Promise<Map<string, Item>> {
  const said = await world.run('accuracy', '--json', ...args);
  if (said.code !== 0) throw new Error(`accuracy ended with ${said.code}: ${said.stderr}`);
  return new Map((JSON.parse(said.stdout) as AccuracyDocument).items.map((item) => [item.check, item]));
}

function check(name: string, fits: (item: Item) => boolean): Promise<Item> {
  const look = async () => {
    const item = (await items()).get(name);
    return item !== undefined && fits(item) ? item : null;
  };
  return until(`the record of ${name}`, look, waitMs);
}

function raised(agent: string, name: string): Promise<string> {
  const look = async () => {
    const sql = `SELECT i.id FROM incidents i JOIN agents a ON a.id = i.agent_id
                 WHERE a.name = $1 AND i.check_name = $2 AND i.closed_at IS NULL`;
    return (await world.query<{ id: string }>(sql, [agent, name]))[0]?.id ?? null;
  };
  return until(`${name} of ${agent}`, look, waitMs);
}

async function incidents(agent: string, name: string): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM incidents i JOIN agents a ON a.id = i.agent_id
               WHERE a.name = $1 AND i.check_name = $2`;
  return (await world.query<{ n: number }>(sql, [agent, name]))[0]?.n ?? 0;
}

const asks = { status: 'waiting', waitingFor: 'permission prompt' };

describe('before anything was ever started', () => {
  it.each([
    [['accuracy'], 5],
    [['accuracy', '--since', 'someday'], 2],
    [['accuracy', '--grounds'], 0],
  ])('%j is %i', async (args, code) => expect((await world.run(...args)).code).toBe(code));
});

describe("a check's own record on this machine", () => {
  beforeAll(async () => {
    await world.up();
  });

  it('is empty at first', async () => expect((await world.run('accuracy')).stderr).toContain('nothing has been found'));

  it('a dialog that somebody answered: right; the same one over a killed daemon is one', async () => {
    const agent = await openStandIn(world, 'dialog');
    agent.register(asks);
    const id = await raised('dialog', 'waiting-human');
    expect((await check('waiting-human', ({ open }) => open === 1)).right).toBe(0);
    process.kill(world.daemonPid(), 'SIGKILL');
    await world.up();
    expect(await raised('dialog', 'waiting-human')).toBe(id);
    const seen = await world.agentIs('dialog', ({ findings }) => findings.length > 0);
    expect(seen.findings).toMatchObject([{ id, check: 'waiting-human', standing: 'seen' }]);
    agent.register({ status: 'idle' });
    const item = await check('waiting-human', ({ right }) => right === 1);
    expect(item).toMatchObject({ raised: 1, wrong: 0, open: 0, endings: { 'human-answered': 1 } });
    expect(await incidents('dialog', 'waiting-human')).toBe(1);
  });

  it('a failed turn that a person set going: right; one that went on by itself: wrong', async () => {
    const helped = await openStandIn(world, 'helped');
    const alone = await openStandIn(world, 'alone');
    for (const agent of [helped, alone]) agent.write(prompt(), apiError('529 Overloaded'));
    for (const name of ['helped', 'alone']) await raised(name, 'silent-stop');
    helped.turn();
    alone.write(reply(), turnEnd());
    const both = await check('silent-stop', ({ n }) => n === 2);
    expect(both).toMatchObject({ raised: 2, right: 1, wrong: 1, precision: 0.5 });
    expect(both.endings).toEqual({ 'human-wrote': 1, 'by-itself': 1 });
  });

  it('a killed agent: right from the first moment, also after a restart; denied by a person: wrong for good', async () => {
    const agent = await openStandIn(world, 'killed');
    await world.agentIs('killed', 'idle');
    process.kill(agent.pid, 'SIGKILL');
    const id = await raised('killed', 'ended-unexpectedly');
    await check('ended-unexpectedly', ({ right }) => right === 1);
    // Nobody can look at it again; after a restart what was found stands all the same.
    process.kill(world.daemonPid(), 'SIGKILL');
    await world.up();
    const { findings } = await world.agentIs('killed', ({ state }) => state === 'ended');
    expect(findings).toMatchObject([{ id, check: 'ended-unexpectedly', standing: 'seen' }]);
    expect((await world.run('ack', id.slice(0, 8), '--wrong')).code).toBe(0);
    await check('ended-unexpectedly', ({ right, wrong }) => right === 0 && wrong === 1);
  });

  it('is a table of at most 80 columns, and may be cut to a time', async () => {
    const { stdout } = await world.run('accuracy');
    expect(stdout).toContain('silent-stop');
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect((await items('--since', '2100-01-01')).size).toBe(0);
    expect((await items('--since', '1h')).get('silent-stop')?.raised).toBe(2);
  });

  it('a single run without a daemon closes what is over by then', async () => {
    const agent = await openStandIn(world, 'asked');
    agent.register(asks);
    const id = await raised('asked', 'waiting-human');
    await world.down();
    agent.register({ status: 'idle' });
    await world.run('check');
    const checked = new Date();
    // Only to read the database.
    await world.up();
    const rows = await world.query('SELECT closed_at <= $2 AS by_it FROM incidents WHERE id = $1', [id, checked]);
    expect(rows).toEqual([{ by_it: true }]);
  });
});

describe('a trouble that comes and goes', () => {
  /** Moves all the time until this incident is closed and has its score. */
  async function movesOn(agent: StandIn, id: string): Promise<void> {
    const move = () => agent.write(reply({ tool: { id: `call-${Date.now()}`, name: 'Bash' } }));
    const timer = setInterval(move, 200);
    const sql = `SELECT s.ending FROM incidents i JOIN scores s ON s.incident_id = i.id
                 WHERE i.id = $1 AND i.closed_at IS NOT NULL`;
    const ended = async () => (await world.query<{ ending: string }>(sql, [id]))[0]?.ending;
    try {
      expect(await until(`${id} is over`, ended, waitMs)).toBe('by-itself');
    } finally {
      clearInterval(timer);
    }
  }

  /** What is open at it now; it stalls until something is. */
  function nextOpen(): Promise<{ id: string; check: string }> {
    const sql = `SELECT i.id, i.check_name AS check FROM incidents i JOIN agents a ON a.id = i.agent_id
                 WHERE a.name = 'flaps' AND i.closed_at IS NULL ORDER BY i.check_name LIMIT 1`;
    const open = async () => (await world.query<{ id: string; check: string }>(sql))[0];
    return until('an incident', open, waitMs);
  }

  it('is set apart after the fourth time: it is shown, and nothing is opened any more', {
    timeout: 150_000,
  }, async () => {
    const agent = await openStandIn(world, 'flaps');
    agent.write(prompt());
    agent.register({ status: 'busy' });
    let open = await nextOpen();
    for (; open.check !== 'flapping'; open = await nextOpen()) await movesOn(agent, open.id);
    const { id } = open;
    const times = await incidents('flaps', 'stalled-turn');
    expect(times).toBe(4);
    const apart = await world.agentIs('flaps', ({ findings }) =>
      findings.some(({ check: name }) => name === 'stalled-turn'),
    );
    expect(apart.findings).toMatchObject([
      { check: 'stalled-turn', standing: 'quarantined' },
      { check: 'flapping', id, subject: 'stalled-turn', standing: 'seen' },
    ]);
    // Also after a restart.
    process.kill(world.daemonPid(), 'SIGKILL');
    await world.up();
    const again = await world.agentIs('flaps', ({ findings }) => findings.length === 2);
    expect(again.findings).toMatchObject([{ standing: 'quarantined' }, { check: 'flapping', id }]);
    expect(await incidents('flaps', 'stalled-turn')).toBe(times);
  });
});

describe('a request that the client tries again', () => {
  const names = (findings: { check: string }[]) => findings.map(({ check: name }) => name);

  it('is told as a refused login at the third 401, by its status alone, and as nothing before', async () => {
    const [twice, thrice] = [await openStandIn(world, 'twice'), await openStandIn(world, 'thrice')];
    const refused = (status: number) => retry({ status, message: '401 Please run /login' });
    twice.write(prompt(), refused(401), refused(401), refused(500), refused(401));
    thrice.write(prompt(), refused(401), refused(401), refused(401));
    for (const agent of [twice, thrice]) agent.register({ status: 'busy' });
    const told = await world.agentIs('thrice', ({ findings }) => names(findings).includes('auth-failed'));
    expect(told).toMatchObject({ state: 'retrying', findings: [{ check: 'auth-failed' }] });
    expect(told.findings[0]?.evidence[0]?.text).toContain('401, not let in: refused 3 times in a row');
    expect((await world.agentIs('twice', 'retrying')).findings).toEqual([]);
    thrice.turn();
    thrice.register({ status: 'idle' });
    await world.agentIs('thrice', ({ findings, state }) => state === 'idle' && findings.length === 0);
  });
});
