import path from 'node:path';
import type { RecordSource } from '../clients/client.ts';
import type { Files } from '../model/world.ts';

const projectsMax = 20_000;
const transcriptsMax = 5_000;

/** The session's file: usually where its directory says, else wherever its id is found. Never "the newest one here". */
export function findTranscript(
  record: RecordSource | undefined,
  files: Files,
  configDir: string,
  cwd: string | null,
  sessionId: string,
): string | null {
  if (record === undefined) return null;
  if (cwd !== null) {
    const expected = record.file(configDir, cwd, sessionId);
    if (files.info(expected) !== null) return expected;
  }
  const projects = record.root(configDir);
  for (const name of (files.list(projects) ?? []).slice(0, projectsMax)) {
    const candidate = path.join(projects, name, record.fileName(sessionId));
    if (files.info(candidate) !== null) return candidate;
  }
  return null;
}

/**
 * Where nothing says which session a client is in: the one written last in its directory since it was started. Only for
 * a client that is alone there, or the sessions of two would be taken for each other's.
 */
export function inferSession(
  record: RecordSource | undefined,
  files: Files,
  configDir: string,
  cwd: string,
  sinceMs: number,
  taken: ReadonlySet<string>,
): string | null {
  if (record === undefined) return null;
  const folder = path.dirname(record.file(configDir, cwd, 'x'));
  let newest: { sessionId: string; mtimeMs: number } | null = null;
  for (const name of (files.list(folder) ?? []).slice(0, transcriptsMax)) {
    const sessionId = record.sessionOf(name);
    if (sessionId === null || taken.has(sessionId)) continue;
    const info = files.info(path.join(folder, name));
    if (info?.kind !== 'file' || info.mtimeMs < sinceMs) continue;
    if (newest === null || info.mtimeMs > newest.mtimeMs) newest = { sessionId, mtimeMs: info.mtimeMs };
  }
  return newest?.sessionId ?? null;
}
