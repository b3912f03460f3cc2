import os from 'node:os';
import { clients, watchedTitles } from '../clients/clients.ts';
import { configDirsOf } from '../config/clients.ts';
import type { LoadedConfig } from '../config/load.ts';
import { tmuxFolder } from '../sense/tmux/servers.ts';
import type { Watcher } from '../watch/watcher.ts';
import type { Beginning } from './news.ts';

interface Given {
  loaded: LoadedConfig;
  isFirst: boolean;
  watchOnly: boolean;
  /** Named by whoever started it; none: all of this user's. */
  tmuxSockets: readonly string[];
  uid: number;
  watcher: Pick<Watcher, 'servers'>;
}

/** For whoever looks on: by which files things are done, and where agents are looked for. */
export function beginningOf({ loaded, isFirst, watchOnly, tmuxSockets, uid, watcher }: Given) {
  const { config, origins } = loaded;
  const dirs = clients.flatMap(({ name, sources, recognition }) =>
    sources.registry === undefined
      ? []
      : [recognition.defaultConfigDir(os.homedir()), ...configDirsOf(config.clients, name)],
  );
  const looksIn: Beginning['looksIn'] = {
    clients: watchedTitles,
    everyMs: config.tickSeconds * 1_000,
    // A socket that an ended server left behind is no server.
    servers: watcher.servers.filter(({ failure }) => failure !== 'gone'),
    tmuxFolder: tmuxSockets.length > 0 ? null : tmuxFolder(uid),
    configDirs: [...new Set(dirs)],
  };
  return { isFirst, watchOnly, rulesFrom: origins.agents, modeFrom: origins.mode, looksIn };
}
