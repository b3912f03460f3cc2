// Bad input changes a counter, not a decision: files of an agent that are unreadable, missing, binary, cut, foreign,
// absurd, or no files at all. The state becomes `unknown` or keeps its age, and what is good again is read again.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { apiError, openStandIn, prompt, reply, type StandIn, type StandInOptions, turnEnd } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

const root = process.getuid?.() === 0;
const stranger = 54_321;
let world: World;
let count = 0;

beforeAll(async () => {
  world = await openWorld();
  // A tmux server ends with its last session.
  await world.tmux.run('new-session', '-d', '-s', 'keeper', '--', 'sleep', 'infinity');
  await world.up();
});
afterAll(() => world.end());

async function newAgent(options: StandInOptions = {}): Promise<{ name: string; agent: StandIn }> {
  count += 1;
  const name = `agent${count}`;
  return { name, agent: await openStandIn(world, name, options) };
}

/** Seen idle after one good turn, with 1,000 tokens in use. */
async function seenAgent(): Promise<{ name: string; agent: StandIn }> {
  const { name, agent } = await newAgent();
  agent.turn(1_000);
  await usesTokens(name, 1_000);
  return { name, agent };
}

function usesTokens(name: string, used: number) {
  return world.agentIs(name, (seen) => seen.state === 'idle' && seen.context?.used === used);
}

/** How many rows were made of the agent's transcript. */
async function rowsOf(name: string): Promise<number> {
  const [row] = await world.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM events e JOIN agents a ON a.id = e.agent_id WHERE a.name = $1 AND e.source = 'transcript' AND e.kind <> 'state'",
    [name],
  );
  return row?.n ?? 0;
}

async function hasRows(name: string, rows: number): Promise<void> {
  await until('its rows', async () => (await rowsOf(name)) === rows, waitMs).catch(() => {});
  expect(await rowsOf(name), `rows of ${name}`).toBe(rows);
}

async function daemonIsWell(): Promise<void> {
  expect(world.log()).not.toMatch(/failed/);
  const { checks } = await world.doctor();
  expect(checks.get('daemon')).toMatchObject({ ok: true });
  expect(checks.get('database')).toMatchObject({ ok: true });
}

interface Obstacle {
  what: string;
  counter: string;
  /** Makes it at `place`; what it hides is at `hidden`. */
  make: (place: string, hidden: string) => void;
}

/** In one step, so that nobody finds the place empty; but a folder cannot take the place of a file. */
function putInstead(obstacle: Obstacle, file: string, content: string | Buffer): void {
  writeFileSync(`${file}.hidden`, content);
  obstacle.make(`${file}.obstacle`, `${file}.hidden`);
  if (statSync(`${file}.obstacle`).isDirectory()) rmSync(file);
  renameSync(`${file}.obstacle`, file);
}

const obstacles: Obstacle[] = [
  { what: 'a folder', counter: 'not-regular', make: (place) => mkdirSync(place) },
  { what: 'a FIFO', counter: 'not-regular', make: (place) => execFileSync('mkfifo', [place]) },
  { what: 'a symlink to a good one', counter: 'not-regular', make: (place, hidden) => symlinkSync(hidden, place) },
];
if (root)
  obstacles.push({
    what: "another user's file",
    counter: 'foreign',
    make(place, hidden) {
      copyFileSync(hidden, place);
      chownSync(place, stranger, stranger);
    },
  });
else
  obstacles.push({
    what: 'a file without read permission',
    counter: 'denied',
    make(place, hidden) {
      copyFileSync(hidden, place);
      chmodSync(place, 0);
    },
  });

describe.concurrent('a transcript that cannot be read', () => {
  it.each(obstacles)(
    '$what is counted and not read, the registry still tells, and recovery is by itself',
    async (obstacle) => {
      const { name, agent } = await seenAgent();
      const file = agent.transcriptFile;
      const good = readFileSync(file);
      const before = await world.counter(`transcript.${obstacle.counter}`);
      // What is behind the obstacle would be believed if it were read.
      putInstead(obstacle, file, `${good}${JSON.stringify(reply({ used: 666_000 }))}\n`);
      await world.counterGrows(`transcript.${obstacle.counter}`, before);
      agent.register({ status: 'busy' });
      const busy = await world.agentIs(name, 'working/thinking');
      expect(busy.context?.used).toBe(1_000);

      rmSync(file, { recursive: true });
      writeFileSync(file, good);
      agent.register({ status: 'idle' });
      agent.turn(2_000);
      await usesTokens(name, 2_000);
      await hasRows(name, 6);
      await daemonIsWell();
    },
  );

  it('missing at first is read once it is there, and keeps what it told when it is removed', async () => {
    const { name, agent } = await newAgent();
    expect((await world.agentIs(name, 'idle')).context).toBeNull();
    agent.turn(1_000);
    await usesTokens(name, 1_000);
    const before = await world.counter('transcript.missing');
    rmSync(agent.transcriptFile);
    await world.counterGrows('transcript.missing', before);
    await usesTokens(name, 1_000);
    agent.turn(3_000);
    await usesTokens(name, 3_000);
    await hasRows(name, 6);
  });

  it('says its age where only the transcript could tell', async () => {
    const { name, agent } = await seenAgent();
    agent.write(prompt(), reply({ tool: { id: 't1', name: 'Bash' } }));
    agent.register({ status: 'busy' });
    await world.agentIs(name, (seen) => seen.detail === 'tool' && seen.stale_s < 1);
    renameSync(agent.transcriptFile, `${agent.transcriptFile}.away`);
    const stale = await world.agentIs(name, (seen) => seen.stale_s > 1.2);
    expect(stale).toMatchObject({ state: 'working', detail: 'tool', source: 'transcript' });
    renameSync(`${agent.transcriptFile}.away`, agent.transcriptFile);
    await world.agentIs(name, (seen) => seen.detail === 'tool' && seen.stale_s < 1);
  });
});

describe('a transcript with bad lines', () => {
  it('binary, cut, foreign and endless nesting are counted one by one, and every good line around them is read', async () => {
    const { name, agent } = await seenAgent();
    const before = (await world.counters())['transcript.invalid-line'] ?? 0;
    const bad = [
      Buffer.from('not json at all'),
      Buffer.from([0, 1, 2, 255, 254, 0x1b, 0x5b, 0x33]),
      Buffer.from('{"type":"assistant","message":{"content":"cut'),
      Buffer.from('"a string"'),
      Buffer.from('[1,2,3]'),
      Buffer.from('null'),
      Buffer.from('['.repeat(200_000)),
      Buffer.from(`{"type":"user","a":${'{"b":'.repeat(1_000)}`),
    ];
    for (const line of bad) {
      appendFileSync(agent.transcriptFile, Buffer.concat([line, Buffer.from('\n')]));
      agent.write(prompt());
    }
    agent.write(reply({ used: 4_000 }), turnEnd());
    await usesTokens(name, 4_000);
    await hasRows(name, 3 + bad.length + 2);
    expect((await world.counters())['transcript.invalid-line']).toBe(before + bad.length);
    await daemonIsWell();
  });

  it('a half-written line is held back, not counted, and read when it is whole', async () => {
    const { name, agent } = await seenAgent();
    const before = await world.counters();
    const line = `${JSON.stringify(reply({ used: 5_000 }))}\n`;
    appendFileSync(agent.transcriptFile, line.slice(0, 100));
    agent.register({ status: 'busy' });
    await world.agentIs(name, 'working/thinking');
    appendFileSync(agent.transcriptFile, line.slice(100));
    agent.register({ status: 'idle' });
    await usesTokens(name, 5_000);
    await hasRows(name, 4);
    expect(await world.counters()).toEqual(before);
  });

  it('absurd numbers and times break neither status nor the rows behind them', async () => {
    const { name, agent } = await seenAgent();
    const registers = [
      { statusUpdatedAt: 1e300 },
      { statusUpdatedAt: -1e300 },
      { statusUpdatedAt: null, updatedAt: 8.7e15, startedAt: 8.7e15 },
      { statusUpdatedAt: 'now', updatedAt: {}, startedAt: [] },
    ];
    const records = [
      { ...prompt(), timestamp: '+200000-01-01T00:00:00.000Z' },
      { ...prompt(), timestamp: '-000001-01-01T00:00:00.000Z' },
      { ...reply(), timestamp: '9999-12-31T23:59:59.999Z' },
      { ...reply(), timestamp: '2150-01-01T00:00:00.000Z' },
      reply({ used: 9e99 }),
      reply({ used: 999_999_999_999 }),
      { ...turnEnd(), durationMs: -1e300, pendingBackgroundAgentCount: 1e300 },
      apiError('limit', { quotaLimits: { resetsAt: 1e300 }, apiErrorStatus: 1e300 }),
      apiError('limit', { quotaLimits: { resetsAt: -9e9 } }),
      { type: 'cost-state', totalCostUSD: 1e308, timestamp: 'yesterday' },
      { type: 'system', subtype: 'api_error', timestamp: new Date().toISOString(), retryInMs: 1e300 },
    ];
    for (const fields of registers) {
      agent.register({ status: 'busy', ...fields });
      await world.seen(name, (seen) => seen.state === 'working');
      agent.register({ status: 'idle', ...fields });
      await world.seen(name, (seen) => seen.state === 'idle');
    }
    for (const record of records) {
      agent.write(record);
      agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
      await world.seen(name, (seen) => seen.state === 'waiting');
      agent.register({ status: 'idle' });
      await world.seen(name, (seen) => seen.state === 'idle');
    }
    agent.turn(7_000);
    await usesTokens(name, 7_000);
    await hasRows(name, 3 + records.length + 3);
    const late = await world.query("SELECT FROM events WHERE at > now() + interval '1 second'");
    expect(late).toEqual([]);
    const [project] = await world.query('SELECT estimated_tokens_used FROM ps_sessions WHERE session_id = $1', [name]);
    expect(project).toEqual({ estimated_tokens_used: 7_000 });
    expect(await world.counters()).not.toHaveProperty('store.refused');
    await daemonIsWell();
  });
});

describe('a transcript that is cut or replaced', () => {
  /** The same records under other ids. */
  const other = (text: string, n: number) => text.replaceAll(/"uuid":"..../g, `"uuid":"000${n}`);
  const ways: [string, (file: string, fresh: string) => void][] = [
    [
      'cut to nothing and begun anew',
      (file, fresh) => {
        truncateSync(file, 0);
        appendFileSync(file, fresh);
      },
    ],
    [
      'rewritten in place, longer than before',
      (file, fresh) => writeFileSync(file, [0, 1, 2, 3, 4].map((n) => other(fresh, n)).join('')),
    ],
    [
      'rotated away',
      (file, fresh) => {
        renameSync(file, `${file}.1`);
        writeFileSync(file, fresh);
      },
    ],
  ];
  it.each(ways)('%s: every new record becomes a row, no old one twice', async (_way, change) => {
    const { name, agent } = await seenAgent();
    agent.turn(2_000);
    agent.turn(3_000);
    await usesTokens(name, 3_000);
    await hasRows(name, 9);
    const fresh = [prompt(), reply({ used: 500 }), turnEnd()].map((record) => `${JSON.stringify(record)}\n`).join('');
    change(agent.transcriptFile, fresh);
    await usesTokens(name, 500);
    const records = readFileSync(agent.transcriptFile, 'utf8').split('\n').length - 1;
    await hasRows(name, 9 + records);
    agent.turn(600);
    await usesTokens(name, 600);
    await hasRows(name, 9 + records + 3);
  });

  it('left for a new session between two looks: its last records become rows, and so do the first of the new one', async () => {
    const { name, agent } = await seenAgent();
    const before = agent.sessionId;
    await hasRows(name, 3);
    process.kill(world.daemonPid(), 'SIGSTOP');
    try {
      agent.turn(2_000);
      agent.sessionId = '11111111-2222-4333-8444-555555555555';
      agent.register({});
      agent.turn(300);
    } finally {
      process.kill(world.daemonPid(), 'SIGCONT');
    }
    const seen = await usesTokens(name, 300);
    expect(seen.session_id).toBe(agent.sessionId);
    await hasRows(name, 9);
    const sessions = await world.query<{ session_id: string; n: number }>(
      `SELECT e.session_id, count(*)::int AS n FROM events e JOIN agents a ON a.id = e.agent_id
       WHERE a.name = $1 AND e.source = 'transcript' AND e.kind <> 'state' GROUP BY 1 ORDER BY 2`,
      [name],
    );
    expect(sessions).toEqual([
      { session_id: agent.sessionId, n: 3 },
      { session_id: before, n: 6 },
    ]);
  });

  it('cut while nobody watched: the new records become rows all the same', async () => {
    const { name, agent } = await seenAgent();
    agent.turn(2_000);
    await hasRows(name, 6);
    await world.down();
    const inode = statSync(agent.transcriptFile).ino;
    truncateSync(agent.transcriptFile, 0);
    agent.turn(500);
    expect(statSync(agent.transcriptFile).ino).toBe(inode);
    await world.up();
    await usesTokens(name, 500);
    await hasRows(name, 9);
  });
});

describe.concurrent('a registry entry that cannot be read', () => {
  it.each(obstacles)('$what: the last word stands with its age, and recovery is by itself', async (obstacle) => {
    const { name, agent } = await seenAgent();
    const file = agent.registryFile;
    const before = await world.counter(`registry.${obstacle.counter}`);
    putInstead(obstacle, file, JSON.stringify(agent.entry({ status: 'waiting', waitingFor: 'input needed' })));
    await world.counterGrows(`registry.${obstacle.counter}`, before);
    const stale = await world.agentIs(name, (seen) => seen.stale_s > 1.2);
    expect(stale.state).toBe('idle');
    rmSync(file, { recursive: true });
    agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    await world.agentIs(name, (seen) => seen.detail === 'permission' && seen.stale_s < 1);
  });

  const contents: [string, string, () => string | Buffer][] = [
    ['not JSON', 'invalid', () => '{"pid": 12'],
    ['binary', 'invalid', () => Buffer.from([0, 255, 0, 255, 10, 27])],
    ['a list', 'invalid', () => '[]'],
    ['huge', 'too-big', () => Buffer.alloc(100 * 1024 * 1024, 'x')],
  ];
  it.each(contents)('%s: counted, and the last word stands with its age', async (_what, counter, content) => {
    const { name, agent } = await seenAgent();
    const before = await world.counter(`registry.${counter}`);
    agent.writeRegistry(content());
    await world.counterGrows(`registry.${counter}`, before);
    const stale = await world.agentIs(name, (seen) => seen.stale_s > 1.2);
    expect(stale.state).toBe('idle');
    agent.register({ status: 'busy' });
    await world.agentIs(name, 'working/thinking');
  });

  it('from the beginning, with no transcript to go by: unknown, never a guess', async () => {
    const { name, agent } = await newAgent({ unregistered: true });
    agent.writeRegistry('{');
    const unknown = await world.agentIs(name, 'unknown/unreadable');
    expect(unknown).toMatchObject({ session_id: null, context: null, health: 'unknown' });
    expect(unknown.confidence).toBeLessThan(0.5);
    expect((await world.run('health', name)).stdout).toMatch(/unknown/);
  });

  it('a session id that would lead out of the folder is not followed', async () => {
    const { name, agent } = await newAgent({ unregistered: true });
    agent.sessionId = '../../../../outside';
    const outside = path.resolve(agent.transcriptFile);
    mkdirSync(path.dirname(outside), { recursive: true });
    writeFileSync(outside, `${JSON.stringify(reply({ used: 666_000 }))}\n`);
    agent.register({ status: 'busy' });
    const seen = await world.agentIs(name, 'unknown/unreadable');
    expect(seen).toMatchObject({ session_id: null, context: null });
    expect(await world.counters()).toHaveProperty('registry.invalid');
  });

  it('of another start time is not this process: its word does not count', async () => {
    const { name, agent } = await newAgent({ unregistered: true });
    agent.register({ status: 'waiting', waitingFor: 'permission prompt', procStart: '1' });
    await world.agentIs(name, 'unknown/unreadable');
    await world.counterGrows('registry.other-process', 0);
    agent.register({ status: 'idle' });
    await world.agentIs(name, 'idle');
  });
});
