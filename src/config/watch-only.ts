import type { LoadedConfig } from './load.ts';
import type { ConfigWatch } from './watch.ts';

/** For a run that was started to look on: whatever the files say, now or when they are read anew, nothing is done. */
export function watchOnly(watch: ConfigWatch): ConfigWatch {
  let of: LoadedConfig | null = null;
  let only: LoadedConfig | null = null;
  return {
    ...watch,
    current: () => {
      const current = watch.current();
      // Asked for at every look at every agent.
      if (only === null || of !== current) only = watching(current);
      of = current;
      return only;
    },
  };
}

function watching(loaded: LoadedConfig): LoadedConfig {
  const { config, project } = loaded;
  return {
    ...loaded,
    config: { ...config, mode: 'watch' },
    project: project === null ? null : { ...project, config: { ...project.config, mode: 'watch' } },
  };
}
