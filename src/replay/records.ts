import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { recordedClients } from '../clients/clients.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { shown } from '../model/text.ts';
import type { ReplayJob } from './part.ts';
import type { ReadProblem } from './read-run.ts';

const recordsMax = 100_000;
const depthMax = 12;

/** Where the clients keep the user's own history. */
export function ownHistory(home: string, configDirs: (client: string) => readonly string[]): string[] {
  const folders = recordedClients.flatMap(({ name, runs }) => runs.folders(home, configDirs(name)));
  return [...new Set(folders)].filter((folder) => found(folder)?.isDirectory());
}

export interface FoundRecords {
  jobs: ReplayJob[];
  /** Folders in those that were named, into which nobody let us look. */
  closed: number;
}

/** The records that are named, and those in the folders that are; the oldest first, and none that ended before. */
export function findRecords(paths: readonly string[], sinceMs: number | null): Result<FoundRecords, ReadProblem> {
  const all: FoundRecords = { jobs: [], closed: 0 };
  for (const given of paths) {
    const stat = found(given);
    if (stat === null)
      return fail('not-found', `${given} is not there`, 'name a transcript, an event file or a folder');
    if (!stat.isDirectory()) {
      all.jobs.push({ file: given, name: shown(path.basename(given), 200), bytes: stat.size, named: true });
      continue;
    }
    if (entriesOf(given) === null)
      return fail('unreadable', `${given} cannot be read`, 'run it as somebody who may, or name another folder');
    const { jobs, closed } = inFolder(given, sinceMs);
    all.jobs.push(...jobs);
    all.closed += closed;
  }
  return ok(all);
}

function inFolder(folder: string, sinceMs: number | null): FoundRecords {
  const records: { job: ReplayJob; writtenMs: number }[] = [];
  let closed = 0;
  const look = (dir: string, depth: number) => {
    const entries = entriesOf(dir);
    if (entries === null) closed += 1;
    for (const entry of entries ?? []) {
      const file = path.join(dir, entry.name);
      // Links are not followed: they could lead in a circle.
      if (entry.isDirectory() && depth < depthMax) look(file, depth + 1);
      if (!entry.isFile() || !/\.(jsonl|ndjson)(\.gz)?$/.test(entry.name) || records.length >= recordsMax) continue;
      const stat = found(file);
      if (stat === null || (sinceMs !== null && stat.mtimeMs < sinceMs)) continue;
      const name = shown(path.relative(folder, file), 200);
      records.push({ job: { file, name, bytes: stat.size, named: false }, writtenMs: stat.mtimeMs });
    }
  };
  look(folder, 0);
  return { jobs: records.sort((a, b) => a.writtenMs - b.writtenMs).map(({ job }) => job), closed };
}

function entriesOf(dir: string): Dirent[] | null {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return null;
  }
}

function found(file: string): Stats | null {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}
