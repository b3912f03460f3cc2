import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { madeBoard } from '../../test/runs/made-board.ts';
import { claudeCode } from '../clients/claude-code/client.ts';
import { defaultConfig } from '../config/schema.ts';
import { Examiner } from '../findings/examiner.ts';
import type { AgentView } from '../model/agent.ts';
import { Counters } from '../model/counters.ts';
import type { StoredAgent } from '../model/store.ts';
import type { Clock, Files, Processes, ProcessInfo } from '../model/world.ts';
import type { SeenAgent, Sweep } from '../sense/fleet.ts';
import { type Looked, Watcher } from './watcher.ts';

const config = defaultConfig();
const socket = '/tmp/tmux-1/default';
const process: ProcessInfo = {
  ...{ bootId: 'b', pid: 7, startTicks: '70', ppid: 1, uid: 1, command: 'claude', runState: 'S' },
  ...{ processGroup: 7, terminal: 34_817, terminalGroup: 7 },
};
const pane = { id: '%3', session: 'api-ps', windowIndex: 0, paneIndex: 0, pid: 6, dead: false };
/** With the user's own config directory, by whose registry it is found without tmux too. */
const byRegistry: SeenAgent = { client: claudeCode, process, configDir: '/home/u/.claude', place: null };
const inPane: SeenAgent = { ...byRegistry, place: { socket, pane } };
const answers: Sweep['servers'][number] = { socket, panes: 1, failure: null };
const hangs: Sweep['servers'][number] = { socket, panes: null, failure: 'hung' };

/** A watcher where one process lives. */
function watching(
  texts: ReadonlyMap<string, string> = new Map(),
  clock: Clock = { nowMs: () => viewNowMs, monotonicMs: () => viewNowMs },
) {
  const files = filesOf(texts);
  const processes: Processes = {
    bootId: 'b',
    uid: 1,
    info: (pid) => (pid === process.pid ? process : null),
    goesOn: (pid) => pid === process.pid,
    children: () => [],
    executable: () => null,
    arguments: () => null,
    directory: () => null,
    environment: () => null,
    startedAtMs: () => viewNowMs - 60_000,
  };
  let sweep: Sweep = { agents: [], servers: [] };
  const board = madeBoard({ clock });
  const examiner = new Examiner({ board, config: () => config });
  const watcher = new Watcher({
    host: 'h',
    clients: [claudeCode],
    fleet: { sweep: async () => sweep, capture: async () => null, close: () => {} } as never,
    inbox: { dir: '/none', look: () => false, hasFor: () => false, claim: () => [] } as never,
    processes,
    files,
    clock,
    counters: new Counters(),
    config: () => config,
    configFor: () => config,
    congested: () => false,
    changed: () => {},
    failed: (error) => {
      throw error;
    },
    off: () => new Map(),
    ...{ said: new Map(), board, examiner, report: () => null },
  });
  const take = (looks: Iterable<Looked>) => {
    for (const { agent, view } of looks)
      examiner.examine(view, { ...signsOf(agent), unansweredSinceMs: null }, clock.nowMs());
    board.publish(watcher.views());
  };
  return {
    watcher,
    pulse: () => take(watcher.pulse()),
    async tick(agents: SeenAgent[], servers: Sweep['servers']) {
      sweep = { agents, servers };
      take(await watcher.tick());
      return board.views()[0];
    },
  };
}

const signsOf = ({ loops, words }: Looked['agent']) => ({ loops, words });

/** Files that are only read. */
function filesOf(texts: ReadonlyMap<string, string>): Files {
  const infoOf = (text: string) =>
    ({ kind: 'file', size: text.length, mtimeMs: viewNowMs, inode: '1', bornMs: 1, uid: 1 }) as const;
  return {
    info: (file) => (texts.has(file) ? infoOf(texts.get(file) ?? '') : null),
    list: () => null,
    readSmall(file) {
      const text = texts.get(file);
      return text === undefined ? { ok: false, reason: 'missing' } : { ok: true, text, info: infoOf(text) };
    },
    readAt(file, offset, bytesMax) {
      const text = texts.get(file);
      if (text === undefined) return { ok: false, reason: 'missing' };
      return { ok: true, bytes: Buffer.from(text.slice(offset, offset + bytesMax)), info: infoOf(text) };
    },
    watch: () => null,
  };
}

const stored = (view: AgentView): StoredAgent => ({ view, hooks: [], recorded: new Map() });
const { bootId, pid, startTicks } = process;
const before = (more: Partial<AgentView>) =>
  agentView('idle', null, 5, { agent: 'api-ps', process: { bootId, pid, startTicks }, ...more });

describe('an agent whose tmux server hangs', () => {
  const place = { socket, session: 'api-ps', pane: '%3' };

  it.each<[string, SeenAgent[]]>([
    ['found by its registry alone', [byRegistry]],
    ['not found at all', []],
  ])('keeps its place and what may be done to it: %s', async (_how, agents) => {
    const { tick } = watching();
    expect(await tick([inPane], [answers])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
    for (let n = 0; n < 3; n += 1)
      expect(await tick(agents, [hangs])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
    expect(await tick([inPane], [answers])).toMatchObject({ tmux: place, authority: 'manage' });
  });

  it('keeps it over a restart', async () => {
    const { watcher, tick } = watching();
    watcher.restore([stored(before({ tmux: place }))]);
    for (let n = 0; n < 3; n += 1)
      expect(await tick([byRegistry], [hangs])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
  });

  it('loses it when the server answers, and does not have it', async () => {
    const { tick } = watching();
    await tick([inPane], [answers]);
    expect(await tick([byRegistry], [answers])).toMatchObject({ tmux: null, authority: 'observe' });
    expect(await tick([inPane], [answers])).toMatchObject({ tmux: place });
  });

  it('is looked for elsewhere all the same', async () => {
    const { tick } = watching();
    await tick([inPane], [answers]);
    const moved = { ...inPane, place: { socket: '/tmp/tmux-1/other', pane } };
    expect((await tick([moved], [hangs, answers]))?.tmux?.socket).toBe('/tmp/tmux-1/other');
  });
});

describe('a record that is longer than one look takes in', () => {
  const sessionId = '0b7e8a52-0000-4000-8000-000000000000';
  const entry = { pid, sessionId, cwd: '/srv/api', procStart: startTicks, kind: 'interactive', status: 'idle' };
  const at = new Date(viewNowMs - 30_000).toISOString();
  const line = { type: 'user', timestamp: at, promptSource: 'typed', message: { content: 'x'.repeat(100_000) } };
  const record = Array.from({ length: 30 }, (_, n) => `${JSON.stringify({ ...line, uuid: `u${n}` })}\n`).join('');
  const registry = claudeCode.sources.registry.file('/home/u/.claude', pid);
  const transcript = claudeCode.sources.record.file('/home/u/.claude', '/srv/api', sessionId);

  it('is said to be behind until it is read to the end, and so long a single run waits', async () => {
    const texts = new Map([
      [registry, JSON.stringify(entry)],
      [transcript, record],
    ]);
    const { watcher, pulse, tick } = watching(texts);
    await tick([inPane], [answers]);
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([true, true]);
    pulse();
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([false, false]);
    const [view] = watcher.views();
    expect(view).toMatchObject({ sessionId, transcript });
  });

  it('nor is the session it changed to known before its record was looked at', async () => {
    const texts = new Map([
      [registry, JSON.stringify(entry)],
      [transcript, `${JSON.stringify({ ...line, uuid: 'u', message: { content: 'x' } })}\n`],
    ]);
    const { watcher, pulse, tick } = watching(texts);
    await tick([inPane], [answers]);
    expect(watcher.agent('api-ps')?.isBehind).toBe(false);
    const next = '0b7e8a52-1111-4000-8000-000000000000';
    texts.set(registry, JSON.stringify({ ...entry, sessionId: next, updatedAt: 1 }));
    await tick([inPane], [answers]);
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([true, true]);
    pulse();
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([false, false]);
    expect(watcher.views()[0]?.sessionId).toBe(next);
  });
});

describe('a clock that is set back', () => {
  it('makes no agent wait anew that has waited for long', async () => {
    const waiting = { pid, sessionId: '0b7e8a52-0000-4000-8000-000000000000', cwd: '/srv/api', procStart: startTicks };
    const since = { kind: 'interactive', status: 'waiting', waitingFor: 'permission prompt' };
    const entry = { ...waiting, ...since, statusUpdatedAt: viewNowMs - 180_000 };
    const texts = new Map([[claudeCode.sources.registry.file('/home/u/.claude', pid), JSON.stringify(entry)]]);
    let nowMs = viewNowMs;
    let monotonicMs = 0;
    const { watcher, tick } = watching(texts, { nowMs: () => nowMs, monotonicMs: () => monotonicMs });
    const look = async () => {
      nowMs += 2_000;
      monotonicMs += 2_000;
      return (await tick([inPane], [answers]))?.findings.map(({ check }) => check);
    };
    await look();
    expect(await look()).toEqual(['waiting-human']);
    nowMs -= 7_200_000;
    watcher.clockSet(-7_200_000, nowMs);
    for (let n = 0; n < 5; n += 1) expect(await look()).toEqual(['waiting-human']);
  });
});
