// A watcher in a made-up world: one client process that lives, in a pane or not, with files that are only texts.
import { claudeCode } from '../../src/clients/claude-code/client.ts';
import { defaultConfig } from '../../src/config/schema.ts';
import { Examiner } from '../../src/findings/examiner.ts';
import { Counters } from '../../src/model/counters.ts';
import type { Clock, Files, Processes, ProcessInfo } from '../../src/model/world.ts';
import type { SeenAgent, Sweep } from '../../src/sense/fleet.ts';
import { type Looked, Watcher } from '../../src/watch/watcher.ts';
import { viewNowMs } from './agent-view.ts';
import { madeBoard } from './made-board.ts';

const config = defaultConfig();
const socket = '/tmp/tmux-1/default';
export const process: ProcessInfo = {
  ...{ bootId: 'b', pid: 7, startTicks: '70', ppid: 1, uid: 1, command: 'claude', runState: 'S' },
  ...{ processGroup: 7, terminal: 34_817, terminalGroup: 7 },
};
export const pane = { id: '%3', session: 'api-ps', windowIndex: 0, paneIndex: 0, pid: 6, dead: false };
/** With the user's own config directory, by whose registry it is found without tmux too. */
export const byRegistry: SeenAgent = { client: claudeCode, process, configDir: '/home/u/.claude', place: null };
export const inPane: SeenAgent = { ...byRegistry, place: { socket, pane } };
export const answers: Sweep['servers'][number] = { socket, panes: 1, failure: null };
export const hangs: Sweep['servers'][number] = { socket, panes: null, failure: 'hung' };

/** A watcher where one process lives. */
export function watching(
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
  const hooked = new Set<number>();
  const looked: string[] = [];
  const board = madeBoard({ clock });
  const examiner = new Examiner({ board, config: () => config });
  const watcher = new Watcher({
    host: 'h',
    clients: [claudeCode],
    fleet: { sweep: async () => sweep, capture: async () => null, close: () => {} } as never,
    inbox: { dir: '/none', look: () => false, hasFor: (of: number) => hooked.has(of), claim: () => [] } as never,
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
    for (const { agent, view } of looks) {
      looked.push(agent.name);
      examiner.examine(view, { ...signsOf(agent), unansweredSinceMs: null }, clock.nowMs());
    }
    board.publish(watcher.views());
  };
  return {
    watcher,
    /** Names of the agents that were looked at, each time. */
    looked,
    /** Processes for whom a hook's file is there. */
    hooked,
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
