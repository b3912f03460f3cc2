import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { type EmbeddedPlace, isInitialised, rootOf } from './place.ts';
import { runAs } from './run-as.ts';
import { adminRole } from './settings.ts';

/** A cluster under its final name is always a finished one: initdb works beside it, and only its success is renamed. */
export async function ensureCluster(
  place: EmbeddedPlace,
  timeoutMs: number,
  progress: (line: string) => void,
): Promise<Result<null, EmbeddedFailure>> {
  if (isInitialised(place)) return sameMajor(place);
  if (existsSync(place.cluster)) {
    return embeddedFailure('initdb-failed', `${place.cluster} exists but holds no database`, 'move it away');
  }
  const pgRoot = rootOf(place);
  const prefix = `${path.basename(place.cluster)}.tmp-`;
  const fresh = path.join(pgRoot, `${prefix}${process.pid}`);
  try {
    for (const name of readdirSync(pgRoot)) {
      if (name.startsWith(prefix)) rmSync(path.join(pgRoot, name), { recursive: true, force: true });
    }
    progress(`creating the database in ${pgRoot}`);
    const end = await runAs(place.serverUser, initdb(place.binaries, fresh), { cwd: pgRoot, timeoutMs });
    if (end.code !== 0) {
      const why = end.execError ?? (end.code === null ? `not done within ${timeoutMs} ms` : lastLines(end.output));
      return embeddedFailure('initdb-failed', `the database could not be created in ${pgRoot}: ${why}`);
    }
    renameSync(fresh, place.cluster);
    const folder = openSync(pgRoot, 'r');
    fsyncSync(folder);
    closeSync(folder);
    return ok(null);
  } catch (error) {
    return embeddedFailure('initdb-failed', `the database could not be created: ${(error as Error).message}`);
  }
}

function initdb(binaries: string, folder: string): [string, ...string[]] {
  return [
    path.join(binaries, 'bin', 'initdb'),
    '-D',
    folder,
    '-U',
    adminRole,
    '-E',
    'UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    // Our own pg_hba.conf is used; started without it, this cluster admits nobody.
    '--auth=reject',
    '--no-instructions',
  ];
}

function sameMajor(place: EmbeddedPlace): Result<null, EmbeddedFailure> {
  const made = readFileSync(path.join(place.cluster, 'PG_VERSION'), 'utf8').trim();
  const ours = path.basename(place.binaries).split('.')[0] ?? '';
  if (made === ours) return ok(null);
  return embeddedFailure(
    'other-major',
    `the database in ${place.cluster} was made by PostgreSQL ${made}, and this Watchkeeper brings PostgreSQL ${ours}`,
    `use the Watchkeeper version that made it`,
  );
}

/** What went wrong, rather than what initdb did about it afterwards. */
function lastLines(text: string): string {
  const lines = text.trim().split('\n');
  const reasons = lines.filter((line) => /error|fatal|panic|could not|no space/i.test(line));
  return (reasons.length > 0 ? reasons : lines).slice(-2).join('\n');
}
