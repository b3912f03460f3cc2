import { errorKindOf } from '../../model/error-kind.ts';
import type { RunEvent, RunLine } from '../../model/run-event.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { untrusted } from '../../model/text.ts';
import { asNumber, asObject, asObjects, asString, asTime, type JsonObject, parseObject } from '../json.ts';
import { callSign, resultSign } from '../signs.ts';
import { excuses } from './excuses.ts';

const nameCharsMax = 200;
const textCharsMax = 8_000;
const argsCharsMax = 64_000;

const recordTypes = new Set(['session_meta', 'event_msg', 'response_item', 'turn_context', 'world_state', 'compacted']);

/** Rollouts are told from other records by the types every one of them begins with. */
export function isRolloutRecord(record: JsonObject): boolean {
  return recordTypes.has(asString(record.type) ?? '') && asObject(record.payload) !== null;
}

/** One line of `rollout-*.jsonl`. Only for replay. */
export function parseRolloutLine(line: string, index: number): RunLine {
  const record = parseObject(line);
  if (record === null) return { ok: false, reason: 'malformed' };
  const atMs = asTime(record.timestamp) ?? Number.NaN;
  const facts = factsOf(record);
  return { ok: true, events: facts.map((fact): RunEvent => ({ index, side: false, atMs, key: `${index}`, fact })) };
}

function factsOf(record: JsonObject): SessionFact[] {
  const payload = asObject(record.payload) ?? {};
  if (record.type === 'event_msg') return eventFacts(payload);
  if (record.type === 'response_item') return itemFacts(payload);
  // Whether somebody asked for it is not on record.
  return record.type === 'compacted'
    ? [{ kind: 'compacted', trigger: 'unknown', tokensBefore: null, tokensAfter: null }]
    : [];
}

function eventFacts(payload: JsonObject): SessionFact[] {
  switch (payload.type) {
    case 'task_started':
      return [{ kind: 'prompt', origin: 'typed', chars: 0, tags: [] }];
    // Older versions write no more than this of a turn's beginning.
    case 'user_message':
      return [{ kind: 'prompt', origin: 'mid-turn', chars: 0, tags: [] }];
    case 'task_complete':
      // A turn that was given up says so here and nowhere else.
      return asObject(payload.error) === null
        ? [{ kind: 'turn-end', durationMs: asNumber(payload.duration_ms), pendingSubagents: 0 }]
        : [apiError(asObject(payload.error) ?? {})];
    case 'turn_aborted':
      return [{ kind: 'interrupted' }];
    default:
      return [];
  }
}

function apiError(failure: JsonObject): SessionFact {
  const info = failure.codex_error_info;
  const [name, more] = asString(info) === null ? (Object.entries(asObject(info) ?? {})[0] ?? []) : [asString(info)];
  const kind = name ?? 'unknown';
  return {
    kind: 'api-error',
    error: errorKindOf(kind, { usage_limit_exceeded: 'rate_limit', server_overloaded: 'overloaded' }),
    status: asNumber(asObject(more)?.http_status_code),
    text: untrusted((asString(failure.message) ?? '').slice(0, 2_000)),
    resetsAtMs: null,
  };
}

function itemFacts(payload: JsonObject): SessionFact[] {
  switch (payload.type) {
    case 'message':
      return payload.role === 'assistant' ? [reply(textOf(payload.content))] : [];
    case 'reasoning':
      return [reply('')];
    // Done by the service or written whole, without a result of its own.
    case 'local_shell_call':
    case 'web_search_call':
      return [{ kind: 'progress' }];
    case 'function_call':
    case 'custom_tool_call':
      return callFacts(payload);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return resultFacts(payload);
    default:
      return [];
  }
}

function reply(text: string): SessionFact {
  const isCut = text.length > textCharsMax;
  const said = untrusted(text.slice(0, textCharsMax));
  return { kind: 'reply', model: '', messageId: '', usage: null, ends: false, text: said, isCut };
}

function callFacts(payload: JsonObject): SessionFact[] {
  const id = asString(payload.call_id)?.slice(0, nameCharsMax);
  const tool = asString(payload.name)?.slice(0, nameCharsMax);
  if (id === undefined || tool === undefined) return [];
  const args = (asString(payload.arguments) ?? asString(payload.input) ?? '').slice(0, argsCharsMax);
  return [{ kind: 'tool-call', id, tool, about: null, sign: callSign(tool, commandOf(args), args) }];
}

function commandOf(args: string): string {
  try {
    const input = asObject(JSON.parse(args)) ?? {};
    const words = Array.isArray(input.command) ? input.command.filter((word) => typeof word === 'string') : [];
    return asString(input.cmd) ?? asString(input.command) ?? asString(input.path) ?? String(words.at(-1) ?? '');
  } catch {
    // A patch is no JSON.
    return args;
  }
}

/** The client puts a head with times and ids before what the command said; older versions a document around it. */
const head =
  /^(?:Exit code: (-?\d+)\n)?(?:Chunk ID: .*\n)?Wall time: .*\n(?:Process exited with code (-?\d+)\n)?[\s\S]{0,200}?Output:\n/;
const refused = /^(exec command |patch )?rejected by user|^aborted by user/;

/** A call that came to nothing has no exit code, only the client's own words. */
const cameToNothing =
  /^(apply_patch verification failed|failed to parse function arguments|unsupported (custom tool )?call|tool call error|execution error|(exec_command|write_stdin) failed)\b/;

function resultFacts(payload: JsonObject): SessionFact[] {
  const id = asString(payload.call_id)?.slice(0, nameCharsMax);
  if (id === undefined) return [];
  const whole = asString(payload.output) ?? textOf(payload.output);
  const { text, code } = said(whole);
  const isError = (code !== null && code !== 0) || refused.test(text) || cameToNothing.test(text);
  return [{ kind: 'tool-result', id, isError, started: null, sign: resultSign(text, isError, { excuses: [excuses] }) }];
}

function said(whole: string): { text: string; code: number | null } {
  const found = head.exec(whole.slice(0, 1_000));
  if (found !== null) {
    const code = found[1] ?? found[2];
    return { text: whole.slice(found[0].length), code: code === undefined ? null : Number(code) };
  }
  const document = whole.startsWith('{"output":') ? parseObject(whole) : null;
  const code = asNumber(asObject(document?.metadata)?.exit_code);
  return code === null ? { text: whole, code } : { text: asString(document?.output) ?? '', code };
}

function textOf(content: unknown): string {
  return asObjects(content)
    .map((part) => asString(part.text) ?? '')
    .join('\n');
}
