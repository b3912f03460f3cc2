// Ten restarts while the real Claude Code works: daemon, database, both, and everything at once as in a reboot, in all
// orders. Afterwards there is one database, no process too many, and every record of the client is one row.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { expect, test } from 'vitest';
import { isRunning, processesIn, processTree, wordsOf } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import type { AgentDocument } from '../../src/daemon/status.ts';
import { type Agent, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';

const name = 'worker-ps';

type Victim = 'daemon' | 'database' | 'tmux' | 'agent';

/** Who is killed, in this order, and what the agent is doing meanwhile. */
const restarts: { kill: Victim[]; during: 'turn' | 'tool' | 'idle' | 'clear' }[] = [
  { kill: ['daemon'], during: 'turn' },
  { kill: ['database'], during: 'turn' },
  { kill: ['daemon', 'database'], during: 'tool' },
  { kill: ['database', 'daemon'], during: 'turn' },
  { kill: ['daemon'], during: 'clear' },
  { kill: ['daemon', 'database', 'agent', 'tmux'], during: 'turn' },
  { kill: ['database'], during: 'idle' },
  { kill: ['tmux', 'agent', 'database', 'daemon'], during: 'tool' },
  { kill: ['daemon', 'database'], during: 'idle' },
  { kill: ['database', 'tmux', 'daemon', 'agent'], during: 'idle' },
];

test(
  'ten restarts leave one database, no orphan process, no lost or doubled row',
  scenario(async (s) => {
    await up(s);
    let agent = await launch(s);
    await agent.type('begin');
    await agent.waitStatus('idle');
    await seen(s, (status) => status.state === 'idle' && status.last_turn === 'ok');

    for (const [count, { kill, during }] of restarts.entries()) {
      const finish = await begin(agent, during, count);
      await killAll(s, agent, kill);
      if (!kill.includes('agent')) await finish();
      if (kill.includes('daemon')) await up(s);
      if (kill.includes('agent')) {
        await seen(s, (status) => status.state === 'ended');
        agent = await launch(s);
      }
      await agent.type(`after restart ${count}`);
      await agent.waitStatus('idle');
      const { pid } = await seen(s, (status) => status.state === 'idle' && status.last_turn === 'ok');
      expect(pid).toBe(agent.pid());
      // A child of the server looks like the server itself for a moment.
      await until('one database', () => postmasters(s).length === 1);
    }

    await everyRecordIsOneRow(s, agent);
    const isOnRecord = async (sql: string, wanted: Record<string, unknown>[]) => {
      const look = async () => isDeepStrictEqual(await query(s, sql), wanted);
      await until(sql, look).catch(() => {});
      expect(await query(s, sql)).toEqual(wanted);
    };
    await isOnRecord('SELECT name, state, pid FROM agents', [{ name, state: 'idle', pid: agent.pid() }]);
    const [sessions] = await query(
      s,
      'SELECT count(*)::int AS n, count(DISTINCT session_id)::int AS ids FROM sessions',
    );
    expect(sessions?.n).toBe(sessions?.ids);
    await isOnRecord('SELECT session_id FROM sessions WHERE ended_at IS NULL', [
      { session_id: agent.registry()?.sessionId },
    ]);
    expect(
      await query(
        s,
        "SELECT at, data FROM events GROUP BY agent_id, at, kind, data, session_id, source HAVING count(*) > 1 AND source <> 'transcript'",
      ),
    ).toEqual([]);
    // A command that the daemon has just begun is not in its tree yet.
    await until('no stray process', () => strays(s).length === 0).catch(() => {});
    expect(strays(s)).toEqual([]);
    // Nor is a killed daemon's connection to tmux left.
    const connections = async () => (await s.tmux.run('list-clients')).trim().split('\n');
    await s.until('one connection to tmux', async () => (await connections()).length === 1);
  }),
  240_000,
);

async function up(s: Scenario): Promise<void> {
  const up = await s.watchkeeper(['up', '--detach']);
  if (up.code !== 0) throw new Error(`up ended with ${up.code}: ${up.stderr}`);
}

async function launch(s: Scenario): Promise<Agent> {
  const settings = { permissions: { allow: ['Bash'] } };
  const agent = await launchAgent({ scenario: s, session: name, extraSettings: settings });
  await agent.waitReady();
  return agent;
}

/** Gets the agent to work; what is handed back lets it come to its end. */
async function begin(
  agent: Agent,
  during: (typeof restarts)[number]['during'],
  count: number,
): Promise<() => Promise<void>> {
  if (during === 'turn') {
    const held = agent.model.hold();
    await agent.type(`restart ${count}`);
    await held.arrived;
    return async () => {
      held.release();
      await agent.waitStatus('idle');
    };
  }
  if (during === 'tool') {
    agent.model.tool('Bash', { command: 'sleep 2', description: 'wait a moment' });
    await agent.type(`restart ${count}`);
    await agent.waitForScreen(/wait a moment|sleep 2/);
    return async () => void (await agent.waitStatus('idle'));
  }
  // While nobody watches: another turn, or another turn and then a new session.
  return async () => {
    await agent.type(`unwatched ${count}`);
    await until('the turn', () => agent.model.turns.some((turn) => turn.prompt.includes(`unwatched ${count}`)));
    await agent.waitStatus('idle');
    if (during !== 'clear') return;
    const before = agent.registry()?.sessionId;
    await agent.type('/clear');
    await until('a new session', () => agent.registry()?.sessionId !== before);
  };
}

async function killAll(s: Scenario, agent: Agent, victims: Victim[]): Promise<void> {
  const pids = { daemon: [daemonPid(s)], database: postmasters(s), tmux: [] as number[], agent: [agent.pid() ?? 0] };
  if (victims.includes('tmux')) pids.tmux = [Number(await s.tmux.run('display-message', '-p', '#{pid}'))];
  const doomed = victims.flatMap((victim) => pids[victim]);
  for (const pid of doomed) process.kill(pid, 'SIGKILL');
  await until('all of them gone', () => !doomed.some(isRunning));
}

function daemonPid(s: Scenario): number {
  return (JSON.parse(readFileSync(path.join(s.watchkeeperHome, 'daemon.json'), 'utf8')) as { pid: number }).pid;
}

function cluster(s: Scenario): string {
  return (JSON.parse(readFileSync(path.join(s.watchkeeperHome, 'pg.json'), 'utf8')) as { cluster: string }).cluster;
}

function postmasters(s: Scenario): number[] {
  const folder = cluster(s);
  return processesIn(folder).filter((pid) => {
    try {
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return argv.includes('-D') && argv.includes(folder);
    } catch {
      return false;
    }
  });
}

/** Whatever has to do with this home and is neither the daemon nor its database. */
function strays(s: Scenario): string[] {
  const known = [...processTree(daemonPid(s)), ...postmasters(s).flatMap(processTree)];
  return (
    [...processesIn(s.watchkeeperHome), ...processesIn(cluster(s))]
      .filter((pid) => !known.includes(pid))
      .map((pid) => wordsOf(pid).join(' '))
      // Gone meanwhile.
      .filter((words) => words !== '')
  );
}

async function seen(s: Scenario, fits: (status: AgentDocument) => boolean): Promise<AgentDocument> {
  return until(
    'the agent seen as it is',
    async () => {
      const status = await s.watchkeeper(['status', '--json']);
      if (status.code !== 0) return null;
      const found = status.json<{ agents: AgentDocument[] }>().agents.find((agent) => agent.agent === name);
      return found !== undefined && fits(found) ? found : null;
    },
    30_000,
  );
}

async function query(s: Scenario, sql: string): Promise<Record<string, unknown>[]> {
  const url = (await s.watchkeeper(['db', 'url'])).stdout.trim();
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** By session and kind: what the files say, counted here in its own way, against the rows. */
async function everyRecordIsOneRow(s: Scenario, agent: Agent): Promise<void> {
  const look = async () => {
    const rows = await query(
      s,
      "SELECT session_id, kind, count(*)::int AS n FROM events WHERE source = 'transcript' AND kind <> 'state' GROUP BY 1, 2 ORDER BY 1, 2",
    );
    return rows.map((row) => `${row.session_id} ${row.kind} ${row.n}`);
  };
  // The client writes its last records a moment after the turn's end.
  const isComplete = async () => isDeepStrictEqual(await look(), expectedRows(agent));
  await until('all rows', isComplete).catch(() => {});
  expect(await look()).toEqual(expectedRows(agent));
  expect(expectedRows(agent).length).toBeGreaterThan(20);
}

function expectedRows(agent: Agent): string[] {
  const counts = new Map<string, number>();
  for (const { file, records } of agent.transcripts()) {
    const session = path.basename(file, '.jsonl');
    for (const record of records.filter((one) => one.isSidechain !== true)) {
      for (const kind of kindsOf(record)) {
        counts.set(`${session} ${kind}`, (counts.get(`${session} ${kind}`) ?? 0) + 1);
      }
    }
  }
  return [...counts].map(([key, n]) => `${key} ${n}`).sort();
}

function kindsOf(record: Record<string, unknown>): string[] {
  const message = record.message as { content?: unknown; model?: string } | undefined;
  const parts = Array.isArray(message?.content) ? (message.content as { type: string; text?: string }[]) : [];
  const text = typeof message?.content === 'string' ? message.content : parts.map((part) => part.text ?? '').join('\n');
  switch (record.type) {
    case 'user': {
      const results = parts.filter((part) => part.type === 'tool_result');
      if (results.length > 0) return results.map(() => 'tool-result');
      if (text.startsWith('[Request interrupted')) return ['interrupted'];
      if (/<command-name>/.test(text)) return ['command'];
      return record.isMeta === true || text.startsWith('<local-command-') ? [] : ['prompt'];
    }
    case 'assistant':
      if (record.isApiErrorMessage === true) return ['api-error'];
      return [
        ...(message?.model === '<synthetic>' ? [] : ['reply']),
        ...parts.filter((part) => part.type === 'tool_use').map(() => 'tool-call'),
      ];
    case 'system':
      return record.subtype === 'turn_duration' ? ['turn-end'] : [];
    case 'api-request':
      return record.querySource === 'repl_main_thread' ? ['request'] : [];
    case 'cost-state':
      return ['cost'];
    // Said in the middle of a turn: the model gets it with its next step.
    case 'attachment':
      return (record.attachment as { type?: string } | undefined)?.type === 'queued_command' ? ['prompt'] : [];
    case 'queue-operation':
      return record.operation === 'enqueue' ? ['queued'] : [];
    default:
      return [];
  }
}
