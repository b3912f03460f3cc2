// What one client writes into its folders, as far as the tests look at it.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ClientFolder } from '../../src/clients/claude-code/conform/client-folder.ts';

/** sessions/<pid>.json, as far as the tests look at it. */
export interface RegistryFile {
  pid: number;
  sessionId: string;
  cwd: string;
  procStart: string;
  version: string;
  status?: string;
  waitingFor?: string;
  updatedAt: number;
  statusUpdatedAt?: number;
}

interface TranscriptRecord {
  type: string;
  subtype?: string;
  timestamp?: string;
  [field: string]: unknown;
}

export interface Transcript {
  file: string;
  records: TranscriptRecord[];
}

/** One run of the status line: when, and what the client told it. */
export interface StatusLine {
  at: number;
  told: Record<string, unknown>;
}

const statusLineLog = 'status-line.log';

/** A status line command that keeps what it was told, one line a run. */
export function recordingStatusLine(configDir: string): Record<string, unknown> {
  const file = path.join(configDir, statusLineLog);
  const script = `${file}.sh`;
  mkdirSync(configDir, { recursive: true });
  writeFileSync(script, `#!/bin/sh\nprintf '%s %s\\n' "$(date +%s%3N)" "$(cat)" >> '${file}'\n`);
  chmodSync(script, 0o755);
  return { statusLine: { type: 'command', command: script } };
}

export class ClientRecords {
  readonly #folder: ClientFolder;

  constructor(folder: ClientFolder) {
    this.#folder = folder;
  }

  registry(pid: number): RegistryFile | null {
    return readJson(path.join(this.#folder.configDir, 'sessions', `${pid}.json`));
  }

  /** The conversations of this project, the newest last. */
  transcripts(): Transcript[] {
    const { configDir, project } = this.#folder;
    const dir = path.join(configDir, 'projects', project.replaceAll(/[^a-zA-Z0-9]/g, '-'));
    return filesEnding(dir, '.jsonl')
      .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
      .map((file) => ({ file, records: readLines(file).map((line) => JSON.parse(line)) }));
  }

  statusLines(): StatusLine[] {
    return readLines(path.join(this.#folder.configDir, statusLineLog)).map((line) => {
      const gap = line.indexOf(' ');
      return { at: Number(line.slice(0, gap)), told: JSON.parse(line.slice(gap + 1)) };
    });
  }
}

function filesEnding(dir: string, ending: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(dir, name));
}

/** Complete lines only: the writer may be in the middle of one. */
function readLines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    // Not there, or caught in the middle of a write.
    return null;
  }
}
