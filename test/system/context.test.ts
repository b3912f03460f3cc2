// Context through the program: history, bands, rows, what an agent takes on, and what is said with daemon or database down.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import type { AdmissionDocument, ContextDocument } from '../../src/daemon/context-document.ts';
import { apiError, openStandIn, prompt, reply, type StandIn, turnEnd } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

let world: World;
let agent: StandIn;

beforeAll(async () => {
  world = await openWorld();
  // Prompted, but not managed: a handoff would begin at 85 percent.
  const file = path.join(world.dir, 'config.yaml');
  writeFileSync(file, JSON.stringify({ agents: [{ match: '*-ps', authority: 'nudge' }] }));
  world.env = { WATCHKEEPER_CONFIG: file };
});
afterAll(() => world.end());

async function accepts(size: string, name = 'fill-ps'): Promise<AdmissionDocument & { code: number }> {
  const said = await world.run('can-accept', name, '--size', size, '--json');
  return { code: said.code, ...(JSON.parse(said.stdout) as AdmissionDocument) };
}

async function context(name = 'fill-ps'): Promise<ContextDocument> {
  const said = await world.run('context', name, '--json');
  if (said.code !== 0) throw new Error(`context ended with ${said.code}: ${said.stderr}`);
  return JSON.parse(said.stdout) as ContextDocument;
}

/** The last figure of its session is on record. */
async function recorded(used: number, name = 'fill-ps'): Promise<void> {
  const last = `SELECT p.used::int AS used FROM context_points p JOIN agents a ON a.id = p.agent_id
                WHERE a.name = $1 AND p.session_id = a.session_id AND a.context_used = $2 ORDER BY p.at DESC LIMIT 1`;
  await until(`${used} on record`, async () => (await world.query(last, [name, used]))[0]?.used === used, waitMs);
}

async function fill(used: number): Promise<void> {
  agent.turn(used);
  await recorded(used);
}

function contextRows(name: string): Promise<{ status: string; band: string | null; from: string | null }[]> {
  return world.query(
    `SELECT h.status, h.details->>'band' AS band, h.details->>'from' AS from FROM health_checks h
     JOIN agents a ON a.id = h.agent_id WHERE a.name = $1 AND h.check_type = 'context' ORDER BY h.id`,
    [name],
  );
}

async function bandEvents(name: string): Promise<[string | null, string | null][]> {
  const rows = await world.query<{ from: string | null; band: string | null }>(
    `SELECT e.data->>'from' AS from, e.data->>'band' AS band FROM events e JOIN agents a ON a.id = e.agent_id
     WHERE a.name = $1 AND e.kind = 'band' ORDER BY e.recorded_at, e.at`,
    [name],
  );
  return rows.map(({ from, band }) => [from, band]);
}

function fullContexts(): Promise<object[]> {
  return world.query("SELECT 1 FROM incidents WHERE check_name = 'context-full'");
}

/** As our status line leaves it in the inbox. */
function leaveStatusLine(of: StandIn, used: number, window: number, model = 'claude-opus-4-8'): void {
  const stat = readFileSync(`/proc/${of.pid}/stat`, 'latin1');
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  const usage = { context_window_size: window, total_input_tokens: used, current_usage: { input_tokens: 1 } };
  const body = { session_id: of.sessionId, model: { id: model }, context_window: usage };
  const file = path.join(world.dataDir, 'inbox', randomUUID().slice(0, 8));
  writeFileSync(`${file}.new`, `wk1 statusline ${of.pid} ${start}\n${JSON.stringify(body)}`);
  renameSync(`${file}.new`, `${file}.statusline`);
}

describe('before anything was ever started', () => {
  it.each([
    [['context', 'x', '--json'], 5],
    [['can-accept', 'x', '--size', 'tiny', '--json'], 3],
    [['can-accept', 'x', '--size', 'huge'], 2],
    [['can-accept', 'x'], 2],
    [['context'], 2],
  ])('%j is %i', async (args, code) => expect((await world.run(...args)).code).toBe(code));
});

describe('an agent whose context fills up', () => {
  beforeAll(async () => {
    agent = await openStandIn(world, 'fill-ps');
    await world.up();
    await world.agentIs('fill-ps', 'idle');
  });

  it('is not known to take anything before its first figure', async () => {
    expect(await accepts('tiny')).toMatchObject({ code: 1, accept: false, reason: 'context-unknown', band: null });
    expect((await world.run('context', 'fill-ps')).stdout).toBe(
      'fill-ps: its context is not known, there is no figure in this session yet\n',
    );
    expect((await world.run('can-accept', 'fill-ps', '--size', 'tiny')).stdout).toBe('no, its context is not known\n');
    expect(await context()).toMatchObject({ points: [], forecast: null, context: null });
    expect((await world.run('context', 'nobody', '--json')).code).toBe(4);
    expect((await world.run('can-accept', 'nobody', '--size', 'tiny')).code).toBe(4);
  });

  it('takes what its band allows, and its rows and events say each band once', async () => {
    const table: [number, string, string | null, string | null][] = [
      [100_000, '[0,30)', 'large', null],
      [350_000, '[30,50)', 'large', null],
      [550_000, '[50,70)', 'small', 'large'],
      [750_000, '[70,85]', 'tiny', 'small'],
      [695_000, '[50,70)', 'small', 'large'],
      [750_001, '[70,85]', null, 'small'],
      [900_000, '(85,100]', null, 'tiny'],
    ];
    for (const [used, band, takes, not] of table) {
      await fill(used);
      if (takes !== null) expect(await accepts(takes), `${used}`).toMatchObject({ code: 0, accept: true, band });
      if (not !== null) expect(await accepts(not), `${used}`).toMatchObject({ code: 1, accept: false, band });
    }
    expect(await accepts('tiny')).toMatchObject({ reason: 'band', handoff: 'required', percent: 90 });
    expect((await world.run('can-accept', 'fill-ps', '--size', 'tiny')).stdout).toBe(
      'no, 90% (85,100]: takes nothing new before a handoff\n',
    );
    // While the stay lasts: a shorter one than a tick opens none.
    await until('the incident of the last stay', async () => (await fullContexts()).length === 1, waitMs);
    // The fifth figure was a wobble: one stay, one row, one event.
    await until('all rows', async () => (await contextRows('fill-ps')).length >= 6);
    expect(await contextRows('fill-ps')).toEqual([
      { status: 'unknown', band: null, from: null },
      { status: 'ok', band: '[0,30)', from: null },
      { status: 'ok', band: '[30,50)', from: '[0,30)' },
      { status: 'ok', band: '[50,70)', from: '[30,50)' },
      { status: 'warning', band: '[70,85]', from: '[50,70)' },
      { status: 'critical', band: '(85,100]', from: '[70,85]' },
    ]);
    expect(await bandEvents('fill-ps')).toEqual([
      [null, '[0,30)'],
      ['[0,30)', '[30,50)'],
      ['[30,50)', '[50,70)'],
      ['[50,70)', '[70,85]'],
      ['[70,85]', '(85,100]'],
    ]);
    expect((await world.agent('fill-ps'))?.findings.map(({ check, severity }) => [check, severity])).toEqual([
      ['context-full', 'critical'],
    ]);
  });

  it('is drawn in 80 columns, with its forecast and its room', async () => {
    const { stdout } = await world.run('context', 'fill-ps');
    expect(stdout).toMatch(
      /^fill-ps: 90% of 1M used \(900k\), by its transcript, \d+s ago\nband \(85,100\]: takes nothing/,
    );
    expect(stdout).toContain('█');
    expect(stdout).toContain('7 turns of this session');
    expect(stdout).toMatch(/forecast: full in about/);
    expect(stdout).toContain('not compacted in this session');
    expect(stdout).toContain('room: 80k of the 980k');
    for (const line of stdout.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
    const { forecast } = await context();
    expect(forecast).toMatchObject({ band: 'usable-end', largest_step: 250_000 });
    const { at = '', low = '', high = '' } = forecast ?? {};
    expect([low, at, high].sort()).toEqual([low, at, high]);
    expect(Date.parse(low)).toBeGreaterThan(Date.now() - 10_000);
  });

  it('takes nothing while it waits, is limited or has ended', async () => {
    agent.turn(100_000);
    await recorded(100_000);
    expect((await accepts('large')).code).toBe(0);
    agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    await world.agentIs('fill-ps', 'waiting/permission');
    expect(await accepts('tiny')).toMatchObject({ code: 1, reason: 'waiting', band: '[0,30)' });
    agent.register({});
    await world.agentIs('fill-ps', 'idle');
    const quotaLimits = { status: 'rejected', resetsAt: Math.floor(Date.now() / 1000) + 3_600 };
    agent.write(
      prompt(),
      apiError('You have hit your limit · resets 6:43pm (UTC)', {
        error: 'rate_limit',
        apiErrorStatus: 429,
        quotaLimits,
      }),
    );
    const { error } = await world.agentIs('fill-ps', 'limited');
    // Once, and not by a clock of nobody knows which day.
    expect(error).toBe(`You have hit your limit · resets ${new Date(quotaLimits.resetsAt * 1000).toISOString()}`);
    expect(await accepts('tiny')).toMatchObject({ code: 1, reason: 'limited' });
    const other = await openStandIn(world, 'gone');
    other.turn(5_000);
    await recorded(5_000, 'gone');
    process.kill(other.pid, 'SIGKILL');
    await world.agentIs('gone', 'ended');
    expect(await accepts('tiny', 'gone')).toMatchObject({ code: 1, reason: 'ended' });
    expect((await world.run('context', 'gone')).stdout).toContain('it has ended');
  });

  it('compacts: the fall is a point that says so', async () => {
    await fill(800_000);
    const metadata = { trigger: 'auto', preTokens: 960_000, postTokens: 30_000, durationMs: 5 };
    const timestamp = new Date().toISOString();
    const boundary = { type: 'system', subtype: 'compact_boundary', compactMetadata: metadata };
    agent.write({ uuid: randomUUID(), timestamp, isSidechain: false, ...boundary });
    await recorded(30_000);
    const { points, client_compacts: own, compacts_at: mark } = await context();
    expect(points.at(-1)).toMatchObject({ used: 30_000, compacted: 'auto', used_before: 960_000 });
    expect(own).toMatchObject({ used_before: 960_000, used_after: 30_000 });
    expect(mark).toBe(967_000);
    const { stdout } = await world.run('context', 'fill-ps');
    expect(stdout).toMatch(/compacted \(auto\) at .*, from 960k to 30k; the client did it by itself at 960k/);
    expect(stdout).toMatch(/\n +c\n/);
    await until('the band fell', async () => (await bandEvents('fill-ps')).at(-1)?.[1] === '[0,30)');
  });

  it('tells what the status line says where that is something new', async () => {
    await fill(40_000);
    const before = (await context()).points.length;
    leaveStatusLine(agent, 40_000, 1_000_000);
    await until('the line was taken', () => readdirSync(path.join(world.dataDir, 'inbox')).length === 0, waitMs);
    leaveStatusLine(agent, 41_000, 1_000_000);
    await recorded(41_000);
    const { points } = await context();
    expect(points.at(-1)).toMatchObject({ used: 41_000, source: 'statusline' });
    expect(points.length).toBe(before + 1);
  });

  it('begins anew with a new session, and is not told twice by a killed and restarted daemon', async () => {
    agent.sessionId = randomUUID();
    agent.register({});
    await world.agentIs('fill-ps', (seen) => seen.session_id === agent.sessionId && seen.context === null);
    expect(await accepts('tiny')).toMatchObject({ code: 1, reason: 'context-unknown' });
    for (const used of [310_000, 320_000, 330_000, 340_000]) await fill(used);
    agent.write(prompt(), reply({ used: 350_000 }));
    await recorded(350_000);
    const before = (await context()).points;
    expect(before.map(({ used }) => used)).toEqual([310_000, 320_000, 330_000, 340_000, 350_000]);
    const events = await bandEvents('fill-ps');
    process.kill(world.daemonPid(), 'SIGKILL');
    await world.up();
    await fill(360_000);
    const after = (await context()).points;
    expect(after.slice(0, 5)).toEqual(before);
    expect(after.length).toBe(6);
    expect(await bandEvents('fill-ps')).toEqual(events);
    expect((await fullContexts()).length).toBe(1);
  });
});

describe('an agent on the larger variant of a model, which its transcript does not name', () => {
  it('keeps the window its status line told, over a killed and restarted daemon', async () => {
    const large = await openStandIn(world, 'large-ps');
    const turn = (used: number) => large.write(prompt(), reply({ used, model: 'claude-sonnet-4-5' }), turnEnd());
    leaveStatusLine(large, 140_000, 1_000_000, 'claude-sonnet-4-5[1m]');
    await recorded(140_000, 'large-ps');
    turn(150_000);
    await recorded(150_000, 'large-ps');
    process.kill(world.daemonPid(), 'SIGKILL');
    await world.up();
    turn(190_000);
    await recorded(190_000, 'large-ps');
    expect((await world.agent('large-ps'))?.context).toMatchObject({ window: 1_000_000, percent: 19 });
    const { points } = await context('large-ps');
    expect(points.map(({ used, window }) => [used, window])).toEqual([
      [140_000, 1_000_000],
      [150_000, 1_000_000],
      [190_000, 1_000_000],
    ]);
    expect(await bandEvents('large-ps')).toEqual([[null, '[0,30)']]);
  });
});

describe('with the daemon or the database down', () => {
  it('the history is still there; a task is not accepted blindly', async () => {
    expect((await world.run('down', '--keep-db')).code).toBe(0);
    const said = await world.run('context', 'fill-ps');
    expect(said.code).toBe(0);
    expect(said.stdout).toMatch(/^fill-ps: 36% of 1M used \(360k\), by its transcript, at \S+, no daemon\n/);
    expect((await context()).points.length).toBe(6);
    expect((await world.run('can-accept', 'fill-ps', '--size', 'tiny', '--json')).code).toBe(3);
  });

  it('without both it is read too, and the database does not run afterwards', async () => {
    await world.down();
    expect((await context()).points.length).toBe(6);
    expect((await world.run('down')).stderr).toBe('watchkeeper: nothing was running\n');
  });
});
