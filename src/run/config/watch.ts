import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type LoadedConfig, loadConfig } from './load.ts';
import { type ConfigPlaces, configFiles } from './places.ts';
import type { ConfigProblem } from './problem.ts';

export type ConfigChange = 'unchanged' | { config: LoadedConfig['config'] } | { problems: ConfigProblem[] };

export interface ConfigWatch {
  /** The last good configuration. */
  current(): LoadedConfig;
  /** Looks at the files once; called every tick. */
  check(): ConfigChange;
}

/**
 * A change counts when two checks in a row see the same files. In between, an editor may have truncated the file or
 * moved it away, and an empty or missing file means defaults: `mode: watch` would act for a moment. A disk that is busy
 * keeps it so for longer than a quick tick, hence `leastMs` on that clock.
 */
export function watchConfig(
  places: ConfigPlaces,
  loaded: LoadedConfig,
  monotonicMs: () => number = () => 0,
  leastMs = 0,
): ConfigWatch {
  let current = loaded;
  let bad = false;
  // Unknown, since the files may have changed after `loaded` was read; the first two checks settle it.
  let applied: string | null = null;
  let seen: string | null = null;
  let seenMs = 0;

  return {
    current: () => current,
    check() {
      const now = fingerprint(places);
      if (now === applied) {
        seen = now;
        return 'unchanged';
      }
      if (now !== seen) {
        seen = now;
        seenMs = monotonicMs();
        return 'unchanged';
      }
      if (monotonicMs() - seenMs < leastMs) return 'unchanged';
      applied = now;
      const next = loadConfig(places);
      if (!next.ok) {
        bad = true;
        return { problems: next.problems };
      }
      const mended = bad;
      bad = false;
      const same = isDeepStrictEqual(next.value.config, current.config);
      // Lines may have moved even where no value has.
      current = next.value;
      return same && !mended ? 'unchanged' : { config: current.config };
    },
  };
}

function fingerprint(places: ConfigPlaces): string {
  const { machine, project } = configFiles(places);
  return [machine, project ?? ''].map((file) => (file === '' ? '' : stamp(file))).join('|');
}

function stamp(file: string): string {
  try {
    const stat = statSync(file, { bigint: true });
    return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs, stat.mode].join(':');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
}
