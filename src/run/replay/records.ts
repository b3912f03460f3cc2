import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { claudeCode } from '../../clients/claude-code/client.ts';
import { rolloutsFolder } from '../../clients/codex/rollout.ts';
import { fail, ok, type Result } from '../../model/result.ts';
import { shown } from '../../model/text.ts';
import type { ReplayJob } from './part.ts';
import type { ReadProblem } from './read-run.ts';

const recordsMax = 100_000;
const depthMax = 12;

/** Where the clients keep the user's own history. */
export function ownHistory(home: string, configDirs: readonly string[]): string[] {
  const claude = [claudeCode.defaultConfigDir(home), ...configDirs].map((dir) => claudeCode.projectsFolder(dir));
  return [...new Set([...claude, rolloutsFolder(home)])].filter((folder) => found(folder)?.isDirectory());
}

/** The records that are named, and those in the folders that are; the oldest first, and none that ended before. */
export function findRecords(paths: readonly string[], sinceMs: number | null): Result<ReplayJob[], ReadProblem> {
  const jobs: ReplayJob[] = [];
  for (const given of paths) {
    const stat = found(given);
    if (stat === null)
      return fail('not-found', `${given} is not there`, 'name a transcript, an event file or a folder');
    if (!stat.isDirectory()) {
      jobs.push({ file: given, name: shown(path.basename(given), 200), bytes: stat.size, named: true });
    } else jobs.push(...inFolder(given, sinceMs));
  }
  return ok(jobs);
}

function inFolder(folder: string, sinceMs: number | null): ReplayJob[] {
  const records: { job: ReplayJob; writtenMs: number }[] = [];
  const look = (dir: string, depth: number) => {
    for (const entry of entriesOf(dir)) {
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
  return records.sort((a, b) => a.writtenMs - b.writtenMs).map(({ job }) => job);
}

function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

function found(file: string): Stats | null {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}
