// Rows that somebody else wrote, in every table that is read back: after a restart nothing follows from them but counts.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { goodDocument } from '../runs/handoff-document.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

const esc = '\u001b[2J';
/** Would be a line of its own, in our name. */
const forged = `x\nwatchkeeper: FORGED${esc}`;
const unshown =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|^watchkeeper: FORGED/mu;
const long = 'x'.repeat(3_000_000);
const file = 'handoff-2026-01-02-03-04-05.md';
const document = goodDocument('abcd1234');

let world: World;
let outside: string;
const agents = new Map<string, StandIn>();
let before: Date;
let host: string;

beforeAll(async () => {
  world = await openWorld();
  outside = path.join(world.dir, 'outside');
  mkdirSync(outside);
  const config = path.join(world.dir, 'config.yaml');
  const command = `cat >> '${world.dir}/told' && echo >> '${world.dir}/told'`;
  const notify = [{ channel: 'test', type: 'command', command: ['/bin/sh', '-c', command] }];
  writeFileSync(config, JSON.stringify({ tickSeconds: 0.3, notify }));
  world.env = { WATCHKEEPER_CONFIG: config };
  for (const name of ['far-ps', 'near-ps', 'poor-ps', 'lost-ps', 'asked-ps', 'bad-ps', 'stuck-ps'])
    agents.set(name, await openStandIn(world, name));
  await world.up();
  for (const name of agents.keys()) await world.agentIs(name, 'idle');
  await until('their rows', async () => (await count('agents')) === agents.size, waitMs);
  process.kill(world.daemonPid(), 'SIGKILL');
  before = new Date();
  host = JSON.parse(readFileSync(path.join(world.dataDir, 'host.json'), 'utf8')).id;
  await put();
  await world.up();
  for (const name of agents.keys()) await world.agentIs(name, 'idle');
}, 120_000);
afterAll(() => world.end());

async function count(table: string): Promise<number> {
  return (await world.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]?.n ?? 0;
}

async function admin(): Promise<pg.Client> {
  const url = (await world.run('db', 'url')).stdout.trim();
  const client = new pg.Client({ connectionString: url.replace('watchkeeper@', 'wk_admin@') });
  client.on('error', () => {});
  await client.connect();
  return client;
}

const putter = (client: pg.Client) => (table: string, values: Record<string, unknown>) =>
  client.query(
    `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.keys(values).map((_, at) => `$${at + 1}`)})`,
    Object.values(values),
  );

async function put(): Promise<void> {
  // Whose database has no constraint of ours is not to be told apart.
  const client = await admin();
  const row = putter(client);
  await client.query('DROP INDEX handoffs_one_open');
  await client.query('ALTER TABLE authority_overrides DROP CONSTRAINT authority_overrides_authority_check');
  const ids = new Map<string, string>();
  for (const found of (await client.query('SELECT id, name FROM agents')).rows) ids.set(found.name, found.id);
  const id = (name: string) => ids.get(name);
  await putAgents(row, id);
  await putHandoffs(row, id);
  await putActs(row, id);
  await client.end();
}

type Put = (table: string, values: Record<string, unknown>) => Promise<unknown>;
type Id = (name: string) => string | undefined;

async function putAgents(row: Put, id: Id): Promise<void> {
  const agent = {
    ...{ host, project: 'p', client: 'claude-code', authority: 'manage', boot_id: 'b', pid: 1, start_ticks: '1' },
    ...{ started_at: before, state: 'idle', state_since: before, source: 'registry', confidence: 1, last_seen: before },
  };
  await row('agents', { ...agent, name: forged });
  await row('agents', { ...agent, name: 'no-state', state: 'godlike' });
  await row('agents', { ...agent, name: 'no-time', last_seen: 'infinity' });
  await row('agents', { ...agent, name: 'no-session', session_id: '../../etc' });
  await row('agents', { ...agent, name: 'no-work', background: '{"a":1}', error: long, tmux_pane: '%1; kill-server' });
  const session = { agent_id: id('bad-ps'), started_at: before, recorded_inode: '1', recorded_offset: 0 };
  await row('sessions', { ...session, session_id: '../../etc/passwd', transcript: '/etc/passwd' });
  await row('sessions', { ...session, session_id: randomUUID(), transcript: '/etc/shadow', recorded_inode: forged });
  const hook = { agent_id: id('bad-ps'), session_id: agents.get('bad-ps')?.sessionId, source: 'hook', kind: 'hook' };
  for (const data of [
    'null',
    '"x"',
    '[]',
    '{"kind":"tool-start"}',
    '{"kind":"prompt","chars":1,"tags":7,"subagent":null}',
  ])
    await row('events', { ...hook, id: randomUUID(), at: before, data });
  await row('events', { ...hook, id: randomUUID(), at: 'infinity', data: '{"kind":"turn-end","subagent":null}' });
  await row('events', { ...hook, id: randomUUID(), at: before, kind: forged, data: { [`a${esc}`]: esc } });
  const point = {
    agent_id: id('bad-ps'),
    session_id: hook.session_id,
    used: 5,
    window_size: 10,
    usable: 9,
    source: 'hook',
  };
  await row('context_points', { ...point, at: 'infinity' });
  await row('context_points', { ...point, at: before, used: -5 });
  await row('context_points', { ...point, at: before, source: forged, compacted: 'auto' });
}

async function putHandoffs(row: Put, id: Id): Promise<void> {
  const way = ['requested', 'prompted', 'written', 'verified', 'saved', 'cleared'];
  const put = async (name: string, given: Record<string, unknown>, ledger = true) => {
    const agent = agents.get(name);
    const fields = {
      ...{
        id: randomUUID(),
        agent_id: id(name),
        project: 'p',
        trigger: 'human',
        recipe: 'document',
        nonce: 'abcd1234',
      },
      ...{ file: path.join(outside, file), cwd: agent?.cwd, old_session: randomUUID(), new_session: agent?.sessionId },
      ...{ requested_at: before, step: 'cleared', sha256: 'a'.repeat(64), document },
      ...given,
    };
    await row('handoffs', fields);
    const steps = given.steps === undefined ? way.slice(0, way.indexOf(String(fields.step)) + 1) : [];
    for (const step of steps) await row('handoff_steps', { handoff_id: fields.id, step, at: before });
    if (!ledger) return;
    for (const [after, deed] of [
      [1, 'ask'],
      [5, 'clear'],
    ] as const) {
      const intent = { deed, after, handoff: fields.id, text: 'x', tag: 'wk-abcd' };
      const action = { id: randomUUID(), at: before, agent_id: id(name), kind: 'prompt', trigger: 'handoff', host };
      await row('actions', { ...action, intent });
      await row('action_outcomes', { action_id: action.id, outcome: 'confirmed' });
    }
  };
  // Whole in every column, and all that its ledger has to say: only the place is none of the agent's.
  await put('far-ps', {});
  await put('asked-ps', { step: 'prompted', old_session: agents.get('asked-ps')?.sessionId, new_session: null });
  const inside = (name: string) => path.join(agents.get(name)?.cwd ?? '', '.watchkeeper', 'handoffs', file);
  // At its place, but nobody ever asked.
  await put('near-ps', { file: inside('near-ps') }, false);
  // At its place, with a ledger, but its agent never had the session that it would go back to.
  await put('lost-ps', { file: inside('lost-ps') });
  // And here it had, but what is stored is no document.
  const poor = agents.get('poor-ps') as StandIn;
  const old_session = poor.sessionId;
  poor.turn();
  poor.sessionId = randomUUID();
  poor.register({});
  await put('poor-ps', {
    old_session,
    new_session: poor.sessionId,
    file: inside('poor-ps'),
    document: `* * * * * root touch ${outside}/cron`,
  });
  for (const given of [
    { file: '/etc/cron.d/evil' },
    { file: path.join(outside, `../outside/${file}`).replace('/outside/', '/x/../outside/') },
    { file: `relative/${file}` },
    { file: path.join(outside, `a\n${file}`) },
    { nonce: '$(reboot)' },
    { new_session: '; rm -rf /' },
    { step: 'godlike' },
    { requested_at: 'infinity' },
    { recipe: forged },
    { cwd: '..' },
    { sha256: 'x' },
    { trigger: forged },
  ])
    await put('bad-ps', given);
}

async function putActs(row: Put, id: Id): Promise<void> {
  const agent_id = id('bad-ps');
  const action = { at: before, agent_id, kind: 'prompt', trigger: 'human', intent: { text: 'x', tag: 'wk-1234' } };
  for (const given of [
    { intent: '[]' },
    { intent: { tag: 7 } },
    { intent: { tag: forged } },
    { trigger: forged },
    { at: 'infinity' },
    { at: '-infinity', trigger: 'rule:silent-stop' },
    { at: 'infinity', trigger: 'rule:silent-stop' },
    { finding: forged },
  ])
    await row('actions', { ...action, id: randomUUID(), ...given });
  await row('clock_marks', { host, passed_ms: 1, at: 'infinity', boot_id: 'b', boot_ms: 1 });
  const shown = {
    ...action,
    id: randomUUID(),
    at: new Date(before.getTime() - 2 * 86_400_000),
    intent: { text: forged },
  };
  await row('actions', shown);
  await row('action_outcomes', { action_id: shown.id, outcome: forged, reason: forged, proof: { [forged]: forged } });
  const incident = { host, agent_id, check_name: 'looping', severity: 'critical', text: 'x', opened_at: before };
  // Told, at no time at all, of a trouble that is open.
  const open = { ...incident, id: randomUUID(), check_name: 'waiting-human' };
  await row('incidents', open);
  const told = { ...action, id: randomUUID(), at: 'infinity', kind: 'notify', trigger: 'rule:waiting-human' };
  await row('actions', { ...told, finding: open.id });
  await row('action_outcomes', { action_id: told.id, outcome: 'told' });
  for (const given of [
    { check_name: 'godlike' },
    { subject: forged },
    { severity: 'godlike' },
    { opened_at: 'infinity' },
    { prompts: -1 },
    { check_name: 'flapping', subject: 'godlike:x' },
    { text: long },
    { text: forged },
  ])
    await row('incidents', { ...incident, id: randomUUID(), ...given });
  const score = {
    host,
    agent: 'bad-ps',
    check_name: 'looping',
    opened_at: before,
    ended_at: before,
    ending: 'by-itself',
  };
  for (const given of [{ ending: 'godlike' }, { check_name: forged }, { ended_at: 'infinity' }, { agent: forged }])
    await row('scores', { ...score, incident_id: randomUUID(), ...given });
  await row('authority_overrides', { host, agent: 'bad-ps', authority: 'godlike' });
  await row('authority_overrides', { host, agent: forged, authority: 'manage' });
  const spawn = { project: 'bad', agent_id, host, source: 'tracked' };
  await row('active_spawns', { ...spawn, task_id: forged, status: 'godlike', description: long, reason: forged });
  await row('active_spawns', { ...spawn, task_id: 'times', spawn_time: 'infinity', output_file: '/etc/shadow\n' });
  await row('active_spawns', { ...spawn, task_id: 'never', ended_at: 'infinity' });
}

describe('hostile rows in every table that is read back', () => {
  it('leave the daemon up and every agent as it is, each counted once, each table logged once', async () => {
    const tables = ['agents', 'sessions', 'events', 'handoffs', 'actions', 'incidents', 'scores', 'active_spawns'];
    await until('all are counted', async () => (await world.counter('stored.handoffs')) >= 17, waitMs);
    const counters = await world.counters();
    for (const table of [...tables, 'authority_overrides'])
      expect(counters[`stored.${table}`], table).toBeGreaterThan(0);
    // Also after many more looks at them.
    await until('more looks', async () => (await world.counter('stored.active_spawns')) > 0, waitMs);
    expect(await world.counters()).toEqual(counters);
    for (const table of tables)
      expect(world.log().match(new RegExp(`a row of ${table} .* is left out`, 'g')), table).toHaveLength(1);
    expect(world.log()).not.toContain(' failed: ');
    // What it says an agent may be done to is the least.
    expect((await world.agent('bad-ps'))?.authority).toBe('observe');
  });

  it('write and allow nothing, and make no folder', async () => {
    // Those that fit nothing, and those that could not even be read: people were told of them.
    const open = "SELECT count(*)::int AS n FROM handoffs WHERE step NOT IN ('done', 'failed')";
    await until('all have ended', async () => (await world.query<{ n: number }>(open))[0]?.n === 0, waitMs);
    const reasons = await world.query<{ reason: string; n: number }>(
      "SELECT reason, count(*)::int AS n FROM handoff_steps WHERE step = 'failed' GROUP BY reason",
    );
    expect(reasons).toEqual([{ reason: 'untrusted', n: 5 + 12 }]);
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync('/etc/cron.d/evil')).toBe(false);
    for (const agent of agents.values()) expect(readdirSync(agent.cwd)).toEqual([]);
    expect(readdirSync(path.join(world.dataDir, 'allowances')).filter((name) => name !== 'answer')).toEqual([]);
  });

  it('type nothing: neither a prompt, nor a command, nor a key', async () => {
    for (const name of agents.keys())
      expect((await world.tmux.run('capture-pane', '-p', '-t', `=${name}:`)).trim(), name).toBe('');
    const typed = await world.query(
      "SELECT intent FROM actions a JOIN action_outcomes o ON o.action_id = a.id WHERE kind <> 'notify' AND trigger = 'handoff' AND a.at > $1 AND outcome <> 'refused'",
      [new Date(before.getTime() + 1)],
    );
    expect(typed).toEqual([]);
  });

  it('one that says a handoff is open ends once a person was told, and its agent is handed over again', async () => {
    const client = await admin();
    await client.query(
      "CREATE UNIQUE INDEX handoffs_one_open ON handoffs (agent_id) WHERE step NOT IN ('done', 'failed')",
    );
    const ids = await client.query('SELECT id FROM agents WHERE name = $1', ['stuck-ps']);
    const row = { id: randomUUID(), agent_id: ids.rows[0]?.id, project: 'p', trigger: forged, recipe: 'document' };
    const more = {
      nonce: '$(reboot)',
      file: '/etc/cron.d/evil',
      cwd: '..',
      old_session: '; rm -rf /',
      requested_at: before,
    };
    await putter(client)('handoffs', { ...row, ...more, step: 'requested' });
    await client.end();
    const handOver = async () => {
      const { code, stdout } = await world.run('handoff', 'stuck-ps', '--json');
      return { code, reason: (JSON.parse(stdout) as { reason: string | null }).reason };
    };
    expect(await handOver()).toEqual({ code: 1, reason: 'untrusted' });
    const step = async () =>
      (await world.query<{ step: string }>('SELECT step FROM handoffs WHERE id = $1', [row.id]))[0]?.step;
    await until('it has ended', async () => (await step()) === 'failed', waitMs);
    const told = await world.query('SELECT 1 FROM incidents WHERE subject = $1 AND tells > 0', [row.id]);
    expect(told).toHaveLength(1);
    expect((await world.run('inbox')).stdout).toContain('in a row that Watchkeeper did not write so');
    expect(await handOver()).toEqual({ code: 6, reason: null });
  });

  it('are told and shown without a line of their own', async () => {
    const commands = [
      ...[['status'], ['inbox'], ['why', 'bad-ps'], ['audit'], ['prompts', 'bad-ps'], ['events'], ['handoffs']],
      ...[['context', 'bad-ps'], ['accuracy'], ['spawn-track', 'list', '--all'], ['health'], ['doctor']],
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await world.run(...command);
      expect(code, `${command}: ${stderr}`).toBeLessThanOrEqual(1);
      expect(stdout.match(unshown), `${command}: ${stdout}`).toBeNull();
    }
    await until('a human knows of what fits nothing', () => existsSync(path.join(world.dir, 'told')), waitMs);
    expect(readFileSync(path.join(world.dir, 'told'), 'utf8').match(unshown)).toBeNull();
  });
});
