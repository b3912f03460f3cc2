import { existsSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readOwnText } from '../../act/own-text.ts';
import type { OsUser } from './run-as.ts';

export interface EmbeddedPlace {
  binaries: string;
  cluster: string;
  socketDir: string;
  /** null: the server runs as ourselves. */
  serverUser: OsUser | null;
}

/** One spelling per directory: the hash of it names files elsewhere. */
export function canonicalHome(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    return path.resolve(home);
  }
}

export function lockPath(home: string): string {
  return path.join(home, 'pg.lock');
}

export function clusterIn(pgRoot: string): string {
  return path.join(pgRoot, 'data');
}

export function confIn(pgRoot: string): string {
  return path.join(pgRoot, 'conf');
}

export function rootOf(place: EmbeddedPlace): string {
  return path.dirname(place.cluster);
}

/** Of PostgreSQL, which can only read what its own major version wrote. */
export function majorOf(binaries: string): string {
  return path.basename(binaries).split('.')[0] ?? '';
}

/** Of an initialised one. */
export function clusterMajor(place: EmbeddedPlace): string {
  return readOwnText(path.join(place.cluster, 'PG_VERSION')).trim();
}

export function isInitialised(place: EmbeddedPlace): boolean {
  return existsSync(path.join(place.cluster, 'PG_VERSION'));
}

export function writePlace(home: string, place: EmbeddedPlace): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const fresh = path.join(home, `pg.json.tmp-${process.pid}`);
  writeFileSync(fresh, `${JSON.stringify({ v: 1, home, ...place }, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, path.join(home, 'pg.json'));
}

/** What an earlier start recorded; null: nothing usable. */
export function readPlace(home: string): EmbeddedPlace | null {
  const recorded = readRecord(path.join(home, 'pg.json'));
  if (recorded === null || recorded.home === home) return recorded?.place ?? null;
  const before = path.join(recorded.home, 'pg') + path.sep;
  if (recorded.place.cluster.startsWith(before))
    return movedTo(path.join(home, 'pg') + path.sep, before, recorded.place);
  // The cluster lies elsewhere: a moved home keeps it, a copied one must not share it with the original.
  return existsSync(recorded.home) ? null : recorded.place;
}

function movedTo(after: string, before: string, place: EmbeddedPlace): EmbeddedPlace {
  const move = (file: string) => (file.startsWith(before) ? after + file.slice(before.length) : file);
  return {
    binaries: move(place.binaries),
    cluster: move(place.cluster),
    socketDir: move(place.socketDir),
    serverUser: place.serverUser,
  };
}

function readRecord(file: string): { home: string; place: EmbeddedPlace } | null {
  let found: Record<string, unknown>;
  try {
    found = JSON.parse(readOwnText(file)) as Record<string, unknown>;
  } catch {
    return null;
  }
  const { home, binaries, cluster, socketDir } = found;
  const serverUser = readUser(found.serverUser);
  if (!isPath(home) || !isPath(binaries) || !isPath(cluster) || !isPath(socketDir) || serverUser === undefined)
    return null;
  return { home, place: { binaries, cluster, socketDir, serverUser } };
}

function readUser(value: unknown): OsUser | null | undefined {
  if (value === null) return null;
  const { uid, gid, name } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isInteger(uid) || !Number.isInteger(gid) || typeof name !== 'string') return undefined;
  return { uid: uid as number, gid: gid as number, name };
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && path.isAbsolute(value);
}
