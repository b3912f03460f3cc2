import { createHash } from 'node:crypto';
import type { MadeRun, MadeStep } from './made-run.ts';

export type MadeFormat = 'claude-code' | 'codex' | 'neutral';

type Input = Record<string, unknown>;
type Result = Extract<MadeStep, { kind: 'result' }>;

/** The lines a client would have written down, and the one the trouble begins with. */
export function written(run: MadeRun, format: MadeFormat): { lines: string[]; onset: number | null } {
  const lines: string[] = [];
  let onset: number | null = null;
  for (const [place, { atMs, step }] of run.steps.entries()) {
    if (place === run.trouble?.from) onset = lines.length;
    const records = writers[format](step, new Date(atMs), lines.length);
    lines.push(...records.map((record) => JSON.stringify(record)));
  }
  return { lines, onset };
}

const writers: Record<MadeFormat, (step: MadeStep, at: Date, index: number) => Input[]> = {
  'claude-code': transcript,
  codex: rollout,
  neutral,
};

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const sha = (of: string) => createHash('sha256').update(of).digest('hex');
const isPicture = (output: string) => output === '[image]';

function transcript(step: MadeStep, at: Date, index: number): Input[] {
  const base = { isSidechain: false, sessionId: 's', timestamp: at.toISOString(), uuid: `u${index}` };
  const reply = (content: Input, stop_reason: string | null) => ({
    ...base,
    type: 'assistant',
    message: { id: `m${index}`, role: 'assistant', model: 'claude-sonnet-4-6', content: [content], stop_reason },
  });
  switch (step.kind) {
    case 'user':
      return [{ ...base, type: 'user', isMeta: step.isNote, message: { role: 'user', content: step.text } }];
    case 'says': {
      const end = { ...base, uuid: `e${index}`, type: 'system', subtype: 'turn_duration', durationMs: 1_000 };
      const said = reply({ type: 'text', text: step.text }, step.ends ? 'end_turn' : null);
      return step.ends ? [said, end] : [said];
    }
    case 'call':
      return [reply({ type: 'tool_use', id: step.id, name: step.tool, input: step.input }, null)];
    case 'result': {
      const source = { type: 'base64', media_type: 'image/png', data: sha(step.id).repeat(9) };
      const content = isPicture(step.output) ? [{ type: 'image', source }] : step.output;
      const part = { type: 'tool_result', tool_use_id: step.id, content, is_error: step.isError };
      return [{ ...base, type: 'user', message: { role: 'user', content: [part] } }];
    }
  }
}

/** Codex has a shell and patches, and little else. */
function rollout(step: MadeStep, at: Date, index: number): Input[] {
  const timestamp = at.toISOString();
  const item = (payload: Input) => ({ timestamp, type: 'response_item', payload });
  const event = (payload: Input) => ({ timestamp, type: 'event_msg', payload });
  switch (step.kind) {
    case 'user': {
      const said = item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: step.text }] });
      return step.isNote ? [said] : [event({ type: 'task_started', turn_id: `t${index}` }), said];
    }
    case 'says': {
      const said = item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: step.text }] });
      return step.ends ? [said, event({ type: 'task_complete', duration_ms: 1_000 })] : [said];
    }
    case 'call':
      return [item({ ...codexCall(step.tool, step.input), call_id: step.id })];
    case 'result':
      return [item({ ...codexResult(step, index), call_id: step.id })];
  }
}

const isPatch = (tool: string) => tool === 'Edit' || tool === 'Write';

function codexCall(tool: string, input: Input): Input {
  const command = commandOf(tool, input);
  if (command !== null) {
    const args = { cmd: command, yield_time_ms: 1_000, workdir: '/srv/app' };
    return { type: 'function_call', name: 'exec_command', arguments: JSON.stringify(args) };
  }
  if (!isPatch(tool)) return { type: 'function_call', name: tool, arguments: JSON.stringify(input) };
  const lines = (mark: string, of: unknown) =>
    text(of)
      .split('\n')
      .map((line) => `${mark}${line}`);
  const file = text(input.file_path);
  const body =
    tool === 'Write'
      ? [`*** Add File: ${file}`, ...lines('+', input.content)]
      : [`*** Update File: ${file}`, '@@', ...lines('-', input.old_string), ...lines('+', input.new_string)];
  const patch = ['*** Begin Patch', ...body, '*** End Patch'].join('\n');
  return { type: 'custom_tool_call', name: 'apply_patch', input: patch };
}

function commandOf(tool: string, input: Input): string | null {
  const from = typeof input.offset === 'number' ? input.offset : 1;
  if (tool === 'Bash') return text(input.command);
  if (tool === 'Read') return `sed -n '${from},${from + 199}p' ${text(input.file_path)}`;
  return tool === 'Grep' ? `rg -n '${text(input.pattern)}' ${text(input.path)}` : null;
}

function codexResult({ tool, output, isError }: Result, index: number): Input {
  if (isPatch(tool)) {
    const done = `Exit code: 0\nWall time: 0.${index} seconds\nOutput:\nSuccess. Updated the following files:\nM the file`;
    const refused = 'apply_patch verification failed: Failed to find expected lines in the file';
    return { type: 'custom_tool_call_output', output: isError ? refused : done };
  }
  if (commandOf(tool, {}) === null) {
    return {
      type: 'function_call_output',
      output: isError ? `tool call error: tool call failed\n\n${output}` : output,
    };
  }
  const code = /^Exit code (\d+)\n/.exec(output);
  const isEmpty = output === 'No matches found';
  const exit = code === null ? Number(isError || isEmpty) : Number(code[1]);
  const said = isEmpty ? '' : output.slice(code?.[0].length ?? 0);
  const head = `Chunk ID: ${sha(`${index}`).slice(0, 6)}\nWall time: 0.${1_000 + index} seconds`;
  return { type: 'function_call_output', output: `${head}\nProcess exited with code ${exit}\nOutput:\n${said}` };
}

function neutral(step: MadeStep, at: Date, index: number): Input[] {
  const base = { i: index, src_index: index, ts: at.getTime() / 1_000, side: false };
  switch (step.kind) {
    case 'user':
      return [{ ...base, kind: 'user', text: step.text, meta: step.isNote }];
    case 'says':
      return [{ ...base, kind: 'assistant', text: step.text, stop: step.ends ? 'end_turn' : undefined }];
    case 'call': {
      const { command, file_path, pattern, query, prompt } = step.input;
      const target = text([command, file_path, pattern, query, prompt].find((word) => word !== undefined));
      const args_hash = sha(JSON.stringify(step.input)).slice(0, 12);
      return [{ ...base, kind: 'tool_call', tool: step.tool, args_hash, target, call_id: step.id }];
    }
    case 'result': {
      const { id, output, isError } = step;
      const out = { out_hash: sha(output).slice(0, 12), out_len: output.length, text: output.slice(0, 300) };
      return [{ ...base, kind: 'tool_result', call_id: id, is_error: isError, ...out }];
    }
  }
}
