// One test's own home, data directory and project, and the program run as a person would; no daemon.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { viewSettings } from '../../src/clients/claude-code/settings.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { watchkeeperProgram } from '../clients/scenario.ts';

interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

export interface InitDocument {
  v: 1;
  items: { file: string; kind: string; did: string; detail: string | null; diff: string | null }[];
  channels: { file: string; did: string; channel: string }[];
  tests: { channel: string; ok: boolean; reason: string | null }[];
  notes: string[];
}

export class SetupWorld {
  readonly dir: string;
  readonly home: string;
  readonly data: string;
  readonly project: string;
  env: Record<string, string> = {};

  constructor(dir: string) {
    this.dir = dir;
    this.home = path.join(dir, 'home');
    this.data = path.join(dir, "data of o'brien");
    this.project = path.join(dir, 'project');
    for (const folder of [this.home, this.project]) mkdirSync(folder);
    // As the client's own installer leaves it; only its place is looked at.
    const versions = path.join(dir, 'lib/claude/versions');
    for (const folder of [versions, this.#bin]) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(versions, '2.1.325'), '');
    symlinkSync(path.join(versions, '2.1.325'), path.join(this.#bin, 'claude'));
  }

  get #bin(): string {
    return path.join(this.dir, 'bin');
  }

  get settings(): string {
    return path.join(this.project, '.claude', 'settings.local.json');
  }

  get script(): string {
    return path.join(this.data, 'hooks', 'claude-code.sh');
  }

  /** In the project, unless told otherwise. */
  run(...args: string[]): Promise<Said> {
    // No program of this machine: what is on its PATH must not matter.
    const path_ = `${this.#bin}:${path.dirname(process.execPath)}:/usr/bin:/bin`;
    const env = { ...emptyEnvironment(this.home), PATH: path_, WATCHKEEPER_HOME: this.data, ...this.env };
    return new Promise((resolve) => {
      execFile(watchkeeperProgram, args, { env, cwd: this.project, timeout: 60_000 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr });
      });
    });
  }

  async good(...args: string[]): Promise<Said> {
    const said = await this.run(...args);
    if (said.code !== 0) throw new Error(`${args.join(' ')} ended with ${said.code}: ${said.stderr}`);
    return said;
  }

  async json(...args: string[]): Promise<InitDocument> {
    return JSON.parse((await this.good(...args, '--json')).stdout) as InitDocument;
  }

  async did(...args: string[]): Promise<string[]> {
    return (await this.json(...args)).items.map((item) => item.did);
  }

  /** What `doctor` says of hooks. */
  async hooksCheck(): Promise<{ ok: boolean; detail: string; fix: string | null }> {
    const { checks } = JSON.parse((await this.run('doctor', '--json')).stdout);
    return checks.find((check: { name: string }) => check.name === 'hooks');
  }

  put(file: string, content: string | Buffer): string {
    const place = path.resolve(this.project, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, content);
    return place;
  }

  /** Everything below a folder, with content, mode and time of change. */
  look(folder: string = this.project): Record<string, string> {
    const seen: Record<string, string> = {};
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const place = path.join(entry.parentPath, entry.name);
      if (!existsSync(place)) seen[place] = 'leads nowhere';
      else if (entry.isFile()) seen[place] = `${statSync(place).mode} ${readFileSync(place, 'latin1')}`;
      else seen[place] = entry.isDirectory() ? 'folder' : 'special';
    }
    return seen;
  }
}

/** The events of a script in settings, whatever else is in them. */
export function eventsIn(file: string, script: string): number {
  const view = viewSettings(readFileSync(file, 'utf8'));
  return view.ok ? (view.value.scripts.get(script)?.size ?? 0) : -1;
}

export function setupWorld(): SetupWorld {
  const dir = mkdtempSync(path.join(tmpdir(), 'wk-setup-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return new SetupWorld(dir);
}
