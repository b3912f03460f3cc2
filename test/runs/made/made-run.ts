import type { LabelName } from '../../../src/eval/labelled-runs.ts';

type Input = Record<string, unknown>;

export type MadeStep =
  | { kind: 'user'; text: string; isNote: boolean }
  | { kind: 'says'; text: string; ends: boolean }
  | { kind: 'call'; id: string; tool: string; input: Input }
  | { kind: 'result'; id: string; tool: string; output: string; isError: boolean };

/** A run that nobody made, with the tools of Claude Code; `written.ts` says it in the words of other clients too. */
export class MadeRun {
  readonly steps: { atMs: number; step: MadeStep }[] = [];
  /** What somebody looking over its shoulder would say, and from which step on. */
  trouble: { label: LabelName; from: number } | null = null;
  #atMs = Date.parse('2026-09-14T08:12:03Z');
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed + 1;
  }

  /** By chance, and the same every time. */
  int(from: number, to: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return from + Math.floor((this.#seed / 2 ** 32) * (to - from + 1));
  }

  hex(chars: number): string {
    return Array.from({ length: chars }, () => this.int(0, 15).toString(16)).join('');
  }

  get clock(): string {
    return new Date(this.#atMs).toISOString();
  }

  #add(step: MadeStep, seconds: number): this {
    this.#atMs += seconds * 1_000;
    this.steps.push({ atMs: this.#atMs, step });
    return this;
  }

  user(text: string): this {
    return this.#add({ kind: 'user', text, isNote: false }, 20);
  }

  /** What the client tells the model by itself, such as a stop hook's words. */
  note(text: string): this {
    return this.#add({ kind: 'user', text, isNote: true }, 1);
  }

  says(text: string): this {
    return this.#add({ kind: 'says', text, ends: false }, 4);
  }

  done(text: string): this {
    return this.#add({ kind: 'says', text, ends: true }, 4);
  }

  does(tool: string, input: Input, output: string, isError = false, seconds = 1): this {
    return this.#result(this.#call(tool, input, 3), tool, output, isError, seconds);
  }

  /** Calls of one breath. */
  batch(calls: [tool: string, input: Input, output: string, isError: boolean][]): this {
    const ids = calls.map(([tool, input]) => this.#call(tool, input, 0.1));
    for (const [place, [tool, , output, isError]] of calls.entries()) {
      this.#result(ids[place] ?? '', tool, output, isError, 0.2);
    }
    return this;
  }

  #call(tool: string, input: Input, seconds: number): string {
    const id = `call_${this.steps.length}_${this.hex(8)}`;
    this.#add({ kind: 'call', id, tool, input }, seconds);
    return id;
  }

  #result(id: string, tool: string, output: string, isError: boolean, seconds: number): this {
    return this.#add({ kind: 'result', id, tool, output, isError }, seconds);
  }

  bash(command: string, output: string, exit = 0, seconds = 2): this {
    return this.does('Bash', { command }, exit === 0 ? output : `Exit code ${exit}\n${output}`, exit !== 0, seconds);
  }

  read(file: string, output: string, offset?: number): this {
    return this.does(
      'Read',
      offset === undefined ? { file_path: file } : { file_path: file, offset, limit: 200 },
      output,
    );
  }

  edit(file: string, from: string, to: string, problem?: string): this {
    const output = problem === undefined ? `The file ${file} has been updated successfully.` : problem;
    return this.does('Edit', { file_path: file, old_string: from, new_string: to }, output, problem !== undefined);
  }

  write(file: string, content: string): this {
    return this.does('Write', { file_path: file, content }, `File created successfully at: ${file}`);
  }

  grep(pattern: string, output = 'No matches found'): this {
    return this.does('Grep', { pattern, path: 'src', output_mode: 'content' }, output);
  }

  times(n: number, what: (run: this, turn: number) => void): this {
    for (let turn = 0; turn < n; turn += 1) what(this, turn);
    return this;
  }

  lost(label: LabelName): this {
    this.trouble = { label, from: this.steps.length };
    return this;
  }
}
