// One run of `watchkeeper conformance` on the real client, whose temp folder is where the test can look.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { isRunning, processesIn } from '../../src/conform/processes.ts';
import { until, withMore } from '../../src/conform/until.ts';
import type { ConformanceResult } from '../../src/watch/conformance-results.ts';
import { claudeProgram, emptyEnvironment } from './agent.ts';
import { type Scenario, watchkeeperProgram } from './scenario.ts';

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export class Conformance {
  readonly #scenario: Scenario;
  readonly #child: ChildProcess;
  readonly #tmp: string;
  readonly #seen = new Set<number>();
  #stdout = '';
  #stderr = '';
  #code: number | null | undefined;

  constructor(s: Scenario, words: string[] = ['--program', claudeProgram()]) {
    this.#scenario = s;
    this.#tmp = path.join(s.dir, 't');
    mkdirSync(this.#tmp);
    const env = { ...emptyEnvironment(s.home), WATCHKEEPER_HOME: s.watchkeeperHome, TMPDIR: this.#tmp };
    // As from a terminal: what it starts in its own group gets the keys too.
    this.#child = spawn(process.execPath, [watchkeeperProgram, 'conformance', ...words], {
      env,
      cwd: s.home,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child.on('close', (code) => {
      this.#code = code;
    });
  }

  says(pattern: RegExp, ms = 40_000): Promise<unknown> {
    return until(`${pattern} said`, () => pattern.test(this.#stderr), ms).catch(withMore(() => this.#stderr));
  }

  /** Those of the world it made for itself. */
  processes(): number[] {
    const found = processesIn(this.#tmp).filter((pid) => pid !== this.#child.pid);
    for (const pid of found) this.#seen.add(pid);
    return found;
  }

  /** The registry entries of its clients that have one, as they are at this moment. */
  registryFiles(): string[] {
    return list(this.#tmp)
      .flatMap(list)
      .filter((client) => path.basename(client).startsWith('all-'))
      .flatMap((client) => list(path.join(client, 'config', 'sessions')))
      .filter((file) => file.endsWith('.json'));
  }

  /** To the whole group, as a terminal does. */
  stop(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
  }

  async ended(ms = 60_000): Promise<Ended> {
    await until('the run ended', () => this.#code !== undefined, ms).catch(withMore(() => this.#stderr));
    return { code: this.#code ?? null, stdout: this.#stdout, stderr: this.#stderr };
  }

  leftNothing(): void {
    expect(processesIn(this.#tmp)).toEqual([]);
    expect([...this.#seen].filter(isRunning)).toEqual([]);
    expect(readdirSync(this.#tmp)).toEqual([]);
  }

  result(version: string): ConformanceResult | null {
    const file = path.join(this.#scenario.watchkeeperHome, 'conformance', `claude-code-${version}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ConformanceResult) : null;
  }
}

/** Paths in a folder; none where it is not there, or not any more. */
function list(dir: string): string[] {
  try {
    return readdirSync(dir).map((name) => path.join(dir, name));
  } catch {
    return [];
  }
}
