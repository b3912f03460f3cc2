import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { clusterMajor, type EmbeddedPlace, isInitialised, majorOf, rootOf } from './place.ts';
import type { StartWish } from './prepare.ts';
import { runAs } from './run-as.ts';
import { adminRole } from './settings.ts';

/** A cluster under its final name is always a finished one: initdb works beside it, and only its success is renamed. */
export async function ensureCluster(
  place: EmbeddedPlace,
  timeoutMs: number,
  { progress, notice, otherMajor }: StartWish,
): Promise<Result<null, EmbeddedFailure>> {
  if (isInitialised(place)) {
    const made = clusterMajor(place);
    if (made === majorOf(place.binaries)) return ok(null);
    if (otherMajor !== 'moved-away') return ofOtherMajor(place, made);
    const away = `${place.cluster}-${made}`;
    if (existsSync(away)) return embeddedFailure('other-major', `${away} is in the way`, 'remove or rename it');
    renameSync(place.cluster, away);
    notice(`the database of PostgreSQL ${made} stays in ${away}: remove it when all is well`);
  }
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

function ofOtherMajor(place: EmbeddedPlace, made: string): Result<null, EmbeddedFailure> {
  return embeddedFailure(
    'other-major',
    `the database in ${place.cluster} was made by PostgreSQL ${made}, and this Watchkeeper brings PostgreSQL ${majorOf(place.binaries)}`,
    '`watchkeeper db backup FILE` and then `watchkeeper db restore FILE --replace` take over what is in it',
  );
}

/** What went wrong, rather than what initdb did about it afterwards. */
function lastLines(text: string): string {
  const lines = text.trim().split('\n');
  const reasons = lines.filter((line) => /error|fatal|panic|could not|no space/i.test(line));
  return (reasons.length > 0 ? reasons : lines).slice(-2).join('\n');
}
