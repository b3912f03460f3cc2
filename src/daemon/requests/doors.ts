import type { Config } from '../../config/schema.ts';
import type { Board } from '../../findings/board.ts';
import type { Home } from '../../home/home.ts';
import type { Counters } from '../../model/counters.ts';
import type { Result } from '../../model/result.ts';
import type { Clock } from '../../model/world.ts';
import type { AgentRecord } from '../../record/agent-record.ts';
import type { Journal } from '../../rows/journal.ts';
import type { Saver } from '../../rows/saver.ts';
import type { Words } from '../../rows/words.ts';
import type { Spawns } from '../../spawns/spawns.ts';
import type { Watcher } from '../../watch/watcher.ts';
import type { Acting } from '../acting.ts';

/** What a request can reach of the daemon. */
export interface Doors {
  sinceMs: number;
  clock: Clock;
  counters: Counters;
  config: () => Config;
  /** Configuration files that were there and are not. */
  missing: () => string[];
  handoffWaits: (agent: string) => boolean;
  paused: () => boolean;
  home: Home;
  words: Words;
  /** Until when rules do nothing, for the daemon has only just started; null: they may. */
  quietUntilMs: () => number | null;
  /** Nothing is done in this run, whatever the configuration says. */
  watchOnly: boolean;
  watcher: Watcher;
  board: Board;
  spawns: Spawns;
  acting: Acting;
  saver: Saver;
  journal: Journal;
  /** Where commands of the user look for what is theirs; null: nobody knows. */
  userHome: string | null;
  /** Who this host is, as people call it and as its rows do. */
  host: { id: string; name: string };
  /** What was found about an agent and done to it lately; null: the database does not say. */
  record: (agent: string) => Promise<AgentRecord | null>;
  /** Why texts cannot be taken out of what is stored; null: they can. */
  whyKept: (forms: readonly string[]) => Promise<Result<string | null>>;
  stop: (keepDb: boolean) => void;
}
