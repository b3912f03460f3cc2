import { createHash } from 'node:crypto';
import type { LabelName } from '../../../src/run/eval/labelled-runs.ts';

/** A run nobody made: written down step by step, and said in the words of each client. */
export type MadeFormat = 'claude-code' | 'codex' | 'neutral';

type Input = Record<string, unknown>;
type Step =
  | { kind: 'user'; text: string; meta?: boolean }
  | { kind: 'says'; text: string; ends: boolean; side: boolean }
  | { kind: 'call'; id: string; tool: string; input: Input; side: boolean }
  | { kind: 'result'; id: string; output: string; isError: boolean; side: boolean; tool: string }
  | { kind: 'compacted' }
  | { kind: 'interrupted' }
  | { kind: 'record'; record: Input };

interface Timed {
  atMs: number;
  step: Step;
}

export interface MadeLabel {
  label: LabelName;
  from: number;
  to: number | null;
}

export class MadeRun {
  readonly steps: Timed[] = [];
  readonly labels: MadeLabel[] = [];
  #atMs = Date.parse('2026-09-14T08:12:03Z');
  #n = 0;
  #seed: number;
  #side = false;

  constructor(seed: number) {
    this.#seed = seed + 1;
  }

  /** A number in [0, 1) that is the same every time. */
  random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }
  int(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }
  hex(chars = 12): string {
    return Array.from({ length: chars }, () => this.int(0, 15).toString(16)).join('');
  }
  get clock(): string {
    return new Date(this.#atMs).toISOString();
  }

  #add(step: Step, seconds: number): this {
    this.#atMs += seconds * 1_000;
    this.steps.push({ atMs: this.#atMs, step });
    return this;
  }

  user(text: string): this {
    return this.#add({ kind: 'user', text }, 20);
  }
  /** What the client tells the model by itself, such as a stop hook's words. */
  note(text: string): this {
    return this.#add({ kind: 'user', text, meta: true }, 1);
  }
  says(text: string, ends = false): this {
    return this.#add({ kind: 'says', text, ends, side: this.#side }, 4);
  }
  done(text: string): this {
    return this.says(text, true);
  }
  wait(seconds: number): this {
    this.#atMs += seconds * 1_000;
    return this;
  }
  compacted(): this {
    return this.#add({ kind: 'compacted' }, 30);
  }
  interrupted(): this {
    return this.#add({ kind: 'interrupted' }, 5);
  }
  record(record: Input): this {
    return this.#add({ kind: 'record', record }, 1);
  }
  side(what: (run: this) => void): this {
    this.#side = true;
    what(this);
    this.#side = false;
    return this;
  }

  call(tool: string, input: Input, seconds = 3): string {
    const id = `call_${this.#n++}_${this.hex(8)}`;
    this.#add({ kind: 'call', id, tool, input, side: this.#side }, seconds);
    return id;
  }
  result(id: string, tool: string, output: string, isError = false, seconds = 1): this {
    return this.#add({ kind: 'result', id, output, isError, side: this.#side, tool }, seconds);
  }
  does(tool: string, input: Input, output: string, isError = false, seconds = 1): this {
    return this.result(this.call(tool, input), tool, output, isError, seconds);
  }
  /** Calls of one breath. */
  batch(calls: [tool: string, input: Input, output: string, isError?: boolean][]): this {
    const ids = calls.map(([tool, input]) => this.call(tool, input, 0.1));
    for (const [place, [tool, , output, isError]] of calls.entries()) {
      this.result(ids[place] ?? '', tool, output, isError ?? false, 0.2);
    }
    return this;
  }
  bash(command: string, output: string, exit = 0, seconds = 2): this {
    return this.does('Bash', { command }, exit === 0 ? output : `Exit code ${exit}\n${output}`, exit !== 0, seconds);
  }
  read(file: string, output: string, offset?: number): this {
    return this.does('Read', offset === undefined ? { file_path: file } : { file_path: file, offset, limit: 200 }, output);
  }
  edit(file: string, from: string, to: string, problem?: string): this {
    return this.does(
      'Edit',
      { file_path: file, old_string: from, new_string: to },
      problem === undefined
        ? `The file ${file} has been updated successfully.`
        : `<tool_use_error>${problem}</tool_use_error>`,
      problem !== undefined,
    );
  }
  write(file: string, content: string): this {
    return this.does('Write', { file_path: file, content }, `File created successfully at: ${file}`);
  }
  grep(pattern: string, output = 'No matches found', place = 'src'): this {
    return this.does('Grep', { pattern, path: place, output_mode: 'content' }, output);
  }
  times(n: number, what: (run: this, turn: number) => void): this {
    for (let turn = 0; turn < n; turn += 1) what(this, turn);
    return this;
  }

  /** From here on somebody looking over its shoulder would say so. */
  lost(label: LabelName): this {
    this.labels.push({ label, from: this.steps.length, to: null });
    return this;
  }
  found(): this {
    const last = this.labels.at(-1);
    if (last !== undefined) last.to = this.steps.length - 1;
    return this;
  }
}

interface Written {
  lines: string[];
  labels: { label: LabelName; onset: number; end: number | null }[];
}

export function written(run: MadeRun, format: MadeFormat): Written {
  const lines: string[] = [];
  const places: number[] = [];
  const put = (record: unknown) => lines.push(JSON.stringify(record));
  for (const { atMs, step } of run.steps) {
    places.push(lines.length);
    for (const record of writers[format](step, new Date(atMs), lines.length)) put(record);
  }
  const place = (step: number) => places[Math.min(step, places.length - 1)] ?? 0;
  const labels = run.labels.map(({ label, from, to }) => ({ label, onset: place(from), end: to === null ? null : place(to) }));
  return { lines, labels };
}

const writers: Record<MadeFormat, (step: Step, at: Date, index: number) => unknown[]> = {
  'claude-code': transcript,
  codex: rollout,
  neutral,
};

function transcript(step: Step, at: Date, index: number): unknown[] {
  const isSidechain = 'side' in step && step.side;
  const base = { isSidechain, sessionId: 's', version: '2.1.325', timestamp: at.toISOString(), uuid: `u${index}` };
  const reply = (content: Input, stop: string | null) => ({
    ...base,
    type: 'assistant',
    message: { id: `m${index}`, role: 'assistant', model: 'claude-sonnet-4-6', content: [content], stop_reason: stop },
  });
  switch (step.kind) {
    case 'user':
      return [{ ...base, type: 'user', isMeta: step.meta, message: { role: 'user', content: step.text } }];
    case 'says': {
      const end = { ...base, uuid: `e${index}`, type: 'system', subtype: 'turn_duration', durationMs: 1_000 };
      const said = reply({ type: 'text', text: step.text }, step.ends ? 'end_turn' : null);
      return step.ends && !isSidechain ? [said, end] : [said];
    }
    case 'call':
      return [reply({ type: 'tool_use', id: step.id, name: step.tool, input: step.input }, null)];
    case 'result': {
      const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: sha(step.id).repeat(9) } };
      const content = step.output === '[image]' ? [picture] : step.output;
      const part = { type: 'tool_result', tool_use_id: step.id, content, is_error: step.isError };
      return [{ ...base, type: 'user', message: { role: 'user', content: [part] } }];
    }
    case 'compacted':
      return [{ ...base, type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto', preTokens: 167_000 } }];
    case 'interrupted':
      return [{ ...base, type: 'user', message: { role: 'user', content: '[Request interrupted by user]' } }];
    case 'record':
      return [{ ...base, ...step.record }];
  }
}

/** Codex has a shell and patches, and little else. */
function rollout(step: Step, at: Date, index: number): unknown[] {
  const timestamp = at.toISOString();
  const item = (payload: Input) => ({ timestamp, type: 'response_item', payload });
  const event = (payload: Input) => ({ timestamp, type: 'event_msg', payload });
  switch (step.kind) {
    case 'user': {
      const content = [{ type: 'input_text', text: step.text }];
      const said = item({ type: 'message', role: 'user', content });
      return step.meta === true ? [said] : [event({ type: 'task_started', turn_id: `t${index}` }), said];
    }
    case 'says': {
      const said = item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: step.text }] });
      return step.ends ? [said, event({ type: 'task_complete', duration_ms: 1_000 })] : [said];
    }
    case 'call':
      return [item(codexCall(step.id, step.tool, step.input))];
    case 'result':
      return [item(codexResult(step, index))];
    case 'compacted':
      return [{ timestamp, type: 'compacted', payload: { message: '' } }];
    case 'interrupted':
      return [event({ type: 'turn_aborted', reason: 'interrupted' })];
    case 'record':
      return [];
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const shellTools = new Set(['Bash', 'Read', 'Grep', 'Glob']);
const patchTools = new Set(['Edit', 'Write']);

function codexCall(call_id: string, tool: string, input: Input): Input {
  const command = (cmd: string) => ({
    type: 'function_call',
    name: 'exec_command',
    arguments: JSON.stringify({ cmd, yield_time_ms: 1_000, workdir: '/srv/app' }),
    call_id,
  });
  const file = text(input.file_path);
  const from = typeof input.offset === 'number' ? input.offset : 1;
  if (tool === 'Bash') return command(text(input.command));
  if (tool === 'Read') return command(`sed -n '${from},${from + 199}p' ${file}`);
  if (tool === 'Grep') return command(`rg -n '${text(input.pattern)}' ${text(input.path)}`);
  if (tool === 'Glob') return command(`rg --files -g '${text(input.pattern)}'`);
  if (patchTools.has(tool)) {
    const marked = (mark: string, lines: string) => lines.split('\n').map((line) => `${mark}${line}`);
    const body =
      tool === 'Write'
        ? [`*** Add File: ${file}`, ...marked('+', text(input.content))]
        : [`*** Update File: ${file}`, '@@', ...marked('-', text(input.old_string)), ...marked('+', text(input.new_string))];
    const patch = ['*** Begin Patch', ...body, '*** End Patch'].join('\n');
    return { type: 'custom_tool_call', name: 'apply_patch', input: patch, call_id };
  }
  return { type: 'function_call', name: tool, arguments: JSON.stringify(input), call_id };
}

function codexResult(step: Step & { kind: 'result' }, index: number): Input {
  const { id, tool, output, isError } = step;
  if (patchTools.has(tool)) {
    const said = `Exit code: 0\nWall time: 0.${index % 10} seconds\nOutput:\nSuccess. Updated the following files:\nM the file`;
    const refused = 'apply_patch verification failed: Failed to find expected lines in the file';
    return { type: 'custom_tool_call_output', call_id: id, output: isError ? refused : said };
  }
  if (!shellTools.has(tool)) {
    const refused = output.includes('InputValidationError') ? 'failed to parse function arguments: missing field' : 'tool call error: tool call failed';
    return { type: 'function_call_output', call_id: id, output: isError ? `${refused}\n\n${output}` : output };
  }
  const code = /^Exit code (\d+)\n/.exec(output);
  const nothing = output === 'No matches found' || output === 'No files found';
  const exit = code === null ? Number(isError || nothing) : Number(code[1]);
  const said = nothing ? '' : code === null ? output : output.slice(code[0].length);
  const head = `Chunk ID: ${sha(`${index}`).slice(0, 6)}\nWall time: 0.${1_000 + index} seconds\nProcess exited with code ${exit}\nOriginal token count: ${said.length}\nOutput:\n`;
  return { type: 'function_call_output', call_id: id, output: head + said };
}

function sha(of: string): string {
  return createHash('sha256').update(of).digest('hex');
}

function neutral(step: Step, at: Date, index: number): unknown[] {
  const side = 'side' in step && step.side;
  const base = { i: index, src_index: index, ts: at.getTime() / 1_000, side };
  switch (step.kind) {
    case 'user':
      return [{ ...base, kind: 'user', text: step.text.slice(0, 300), meta: step.meta }];
    case 'says':
      return [{ ...base, kind: 'assistant', text: step.text.slice(0, 300), stop: step.ends ? 'end_turn' : undefined }];
    case 'call': {
      const { command, file_path, pattern, query, url, path, prompt } = step.input;
      const target = text([command, file_path, pattern, query, url, path, prompt].find((word) => word !== undefined)).slice(0, 300);
      const args_hash = sha(JSON.stringify(step.input)).slice(0, 12);
      return [{ ...base, kind: 'tool_call', tool: step.tool, args_hash, target, call_id: step.id }];
    }
    case 'result': {
      const { id, output, isError } = step;
      const out = { out_hash: sha(output).slice(0, 12), out_len: output.length, text: output.slice(0, 300) };
      return [{ ...base, kind: 'tool_result', call_id: id, is_error: isError, ...out }];
    }
    case 'compacted':
      return [{ ...base, kind: 'compact', sub: 'compact_boundary' }];
    case 'interrupted':
      return [{ ...base, kind: 'user', text: '[Request interrupted by user]' }];
    case 'record':
      return [];
  }
}
