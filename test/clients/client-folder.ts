// The config folder and project of one client: what it needs to start unattended, and what it writes there.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

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

interface FolderOptions {
  configDir: string;
  /** Where the client keeps what it asked once: beside ~/.claude, but inside any other config folder. */
  stateFile: string;
  project: string;
  extraSettings: Record<string, unknown>;
  statusLine: boolean;
  trust: boolean;
  onboarded: boolean;
  keyApproved: boolean;
}

export function prepareClientFolder(options: FolderOptions): ClientFolder {
  const { configDir, project, stateFile } = options;
  mkdirSync(configDir, { recursive: true });
  mkdirSync(project, { recursive: true });
  const before = existsSync(stateFile) ? readFileSync(stateFile, 'utf8') : '{}';
  const state = JSON.parse(before);
  if (options.onboarded) state.hasCompletedOnboarding = true;
  if (options.keyApproved) state.customApiKeyResponses = { approved: ['dummy'], rejected: [] };
  const trusted = state.projects?.[project]?.hasTrustDialogAccepted === true;
  if (options.trust && !trusted) state.projects = { ...state.projects, [project]: { hasTrustDialogAccepted: true } };
  // A client that runs there already rewrites the file: it is left alone where it has everything.
  if (JSON.stringify(state) !== JSON.stringify(JSON.parse(before)) || before === '{}')
    writeFileSync(stateFile, JSON.stringify(state));
  const folder = new ClientFolder(configDir, project);
  const settings = { ...options.extraSettings };
  if (options.statusLine) settings.statusLine = { type: 'command', command: recorder(folder.statusLineFile) };
  writeFileSync(path.join(configDir, 'settings.json'), JSON.stringify(settings));
  return folder;
}

/** A status line command that keeps what it was told, one line a run. */
function recorder(file: string): string {
  const script = `${file}.sh`;
  writeFileSync(script, `#!/bin/sh\nprintf '%s %s\\n' "$(date +%s%3N)" "$(cat)" >> '${file}'\n`);
  chmodSync(script, 0o755);
  return script;
}

export class ClientFolder {
  readonly configDir: string;
  readonly project: string;
  readonly statusLineFile: string;

  constructor(configDir: string, project: string) {
    this.configDir = configDir;
    this.project = project;
    this.statusLineFile = path.join(configDir, 'status-line.log');
  }

  registry(pid: number): RegistryFile | null {
    return readJson(path.join(this.configDir, 'sessions', `${pid}.json`));
  }

  /** The conversations of this project, the newest last. */
  transcripts(): Transcript[] {
    const dir = path.join(this.configDir, 'projects', this.project.replaceAll(/[^a-zA-Z0-9]/g, '-'));
    return filesEnding(dir, '.jsonl')
      .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
      .map((file) => ({ file, records: readLines(file).map((line) => JSON.parse(line)) }));
  }

  statusLines(): StatusLine[] {
    return readLines(this.statusLineFile).map((line) => {
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
