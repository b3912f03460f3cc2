// A database as the first start of a data directory makes it, made once for all tests of a run: `initdb` takes a second of a core.
// First starts themselves are the matter of embedded-*.test.ts, package.test.ts and test/fresh.sh.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { canonicalHome, clusterIn, type EmbeddedPlace, writePlace } from '../../src/record/embedded/place.ts';
import { startEmbedded, stopEmbedded } from '../../src/record/embedded/server.ts';
import { shortHash } from '../../src/record/embedded/settings.ts';
import { migrate } from '../../src/record/migrate.ts';
import { discardHome, newHome } from './embedded-home.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    madeDatabase: EmbeddedPlace;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = newHome();
  const discard = () => discardHome(home);
  const started = await startEmbedded(home);
  const migrated = started.ok ? await migrate(started.value.adminUrl) : started;
  const stopped = await stopEmbedded(home);
  if (!started.ok || !migrated.ok || !stopped.ok) {
    await discard();
    throw new Error(
      `no database for the tests: ${[started, migrated, stopped].map((each) => (each.ok ? 'ok' : each.message))}`,
    );
  }
  project.provide('madeDatabase', started.value.place);
  return discard;
}

/** A data directory that is not there yet gets its own copy; the program itself is a second name of the same files. */
export function giveDatabase(home: string, made: EmbeddedPlace): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const real = canonicalHome(home);
  // Where the first start of a directory that nobody else may enter puts it.
  const root =
    made.serverUser === null ? path.join(real, 'pg') : path.join('/var/lib/watchkeeper', `pg-${shortHash(real)}`);
  const binaries = path.join(root, path.basename(made.binaries));
  mkdirSync(root, { mode: 0o700 });
  copy('-al', made.binaries, binaries);
  copy('-a', made.cluster, clusterIn(root));
  writePlace(real, {
    binaries,
    cluster: clusterIn(root),
    socketDir: path.join(root, 'run'),
    serverUser: made.serverUser,
  });
}

function copy(how: string, from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', [how, from, to], { encoding: 'utf8' });
  if (status !== 0 || !existsSync(to)) throw new Error(`${from} cannot be copied: ${stderr}`);
}
