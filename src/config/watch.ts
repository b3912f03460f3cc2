import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { inForce, inOrder, type LoadedConfig, type OneFile, projectProblems, readFiles, whole } from './load.ts';
import { type ConfigPlaces, configFiles, configWayOut } from './places.ts';
import { type ConfigProblem, formatProblem } from './problem.ts';

/** A file that is bad or gone does not keep the other one from being read anew. */
export type ConfigChange = 'unchanged' | { config?: LoadedConfig['config']; problems?: ConfigProblem[] };

export interface ConfigWatch {
  /** The last good configuration. */
  current(): LoadedConfig;
  /** Files that were there and are not, or not any more: what they said stays, or nothing is done. */
  missing(): string[];
  /** What is wrong with a project's file that the start left out. */
  leftOut(): ConfigProblem[];
  /** Looks at the files once; called every tick. */
  check(): ConfigChange;
}

/**
 * A change counts when two checks in a row see the same files. In between, an editor may have truncated the file or
 * moved it away. A disk that is busy keeps it so for longer than a quick tick, hence `leastMs` on that clock. A file that
 * said something and is gone or empty after that as well is no wish for defaults: `mode: watch` would turn into acting.
 */
export function watchConfig(
  places: ConfigPlaces,
  loaded: LoadedConfig,
  monotonicMs: () => number = () => 0,
  leastMs = 0,
): ConfigWatch {
  let current = loaded;
  /** What is wrong with the files as they are: each is told once. */
  let told = new Set(leftOutOf(loaded).map(formatProblem));
  let lost = missedFiles(loaded);
  // Unknown, since the files may have changed after `loaded` was read; the first two checks settle it.
  let applied: string | null = null;
  let seen: string | null = null;
  let seenMs = 0;

  return {
    current: () => current,
    missing: () => lost,
    leftOut: () => leftOutOf(current),
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
      const { read, problems } = readFiles(places);
      lost = [];
      const last = current.read;
      const machine = kept(last.machine, read.machine, problems);
      const before = last.project;
      const projectWrong = read.project === null ? [] : projectProblems({ machine, project: read.project });
      const project =
        before === null || read.project === null ? read.project : kept(before, read.project, projectWrong);
      const next = inForce({ machine, project }, places.home);
      const wrong = inOrder([...problems, ...projectWrong]);
      const fresh = wrong.filter((problem) => !told.has(formatProblem(problem)));
      const mended = told.size > 0 && wrong.length === 0;
      told = new Set(wrong.map(formatProblem));
      const same = isDeepStrictEqual([next.config, next.project?.config], [current.config, current.project?.config]);
      // Lines may have moved even where no value has.
      current = next;
      if (same && !mended && fresh.length === 0) return 'unchanged';
      return {
        ...(same && !mended ? {} : { config: current.config }),
        ...(fresh.length > 0 ? { problems: fresh } : {}),
      };
    },
  };

  /** The one before, where the new one is bad or gone. */
  function kept(before: OneFile, now: OneFile, problems: ConfigProblem[]): OneFile {
    if (now.says || (!before.says && before.missed === null)) return problems.length > 0 ? before : now;
    const what = now.found ? 'is empty now' : 'no such file any more';
    // What was gone at the start was told then.
    problems.splice(0, problems.length, ...(before.says ? [whole(now.path, `${what}: ${configWayOut}`)] : []));
    lost.push(before.missed ?? now.path);
    return before;
  }
}

function leftOutOf({ read }: LoadedConfig): ConfigProblem[] {
  return read.project?.isLeftOut === true ? inOrder(projectProblems(read)) : [];
}

/** Files an earlier run had. */
function missedFiles({ read }: LoadedConfig): string[] {
  return [read.machine, read.project].flatMap((file) => (file?.missed == null ? [] : [file.missed]));
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
