import { errorKindOf } from '../model/error-kind.ts';
import type { RunEvent, RunLine } from '../model/run-event.ts';
import type { SessionFact, TokenUsage } from '../model/session-event.ts';
import { untrusted } from '../model/text.ts';
import { allExcuses, allTools } from './clients.ts';
import { asCount, asNumber, asObject, asString, asTimeMs, type JsonObject, parseObject } from './json.ts';
import { callSign, resultSign, statusIn } from './signs.ts';

const textCharsMax = 8_000;
const toolCharsMax = 200;
const cutChars = 300;

/** A line of the neutral format: one event of a run, whatever client it came from. Its texts are cut to 300 characters. */
export function parseNeutralLine(line: string): RunLine {
  const record = parseObject(line);
  const index = asCount(record?.src_index);
  const kind = asString(record?.kind);
  if (record === null || index === null || kind === null) return { ok: false, reason: 'malformed' };
  if (kind === 'output') return { ok: false, reason: 'unstructured' };
  const seconds = asNumber(record.ts);
  const atMs = seconds === null ? null : asTimeMs(seconds * 1000);
  const key = `${asCount(record.i) ?? index}`;
  const events = factsOf(kind, record, atMs).map(
    (fact, place): RunEvent => ({
      index,
      side: record.side === true,
      atMs: atMs ?? Number.NaN,
      key: `${key}#${place}`,
      fact,
    }),
  );
  return { ok: true, events };
}

function factsOf(kind: string, record: JsonObject, atMs: number | null): SessionFact[] {
  const text = (asString(record.text) ?? '').slice(0, textCharsMax);
  switch (kind) {
    case 'user':
      return userFacts(text, record.meta === true);
    case 'assistant':
    case 'thinking':
      return replyFacts(kind, record, text);
    case 'tool_call':
      return callFacts(record);
    case 'tool_result':
      return resultFacts(record, text);
    case 'api_error':
      return [apiError(record, text, atMs)];
    case 'compact':
      return record.sub === 'compact_boundary' ? [compacted(record)] : [];
    case 'system':
      return record.sub === 'turn_duration' || record.sub === 'stop_hook_summary' ? [turnEnd] : [];
    case 'end':
      return [turnEnd];
    case 'aux':
      return record.sub === 'progress' ? [{ kind: 'progress' }] : [];
    default:
      return [];
  }
}

const turnEnd: SessionFact = { kind: 'turn-end', durationMs: null, pendingSubagents: 0 };

function userFacts(text: string, meta: boolean): SessionFact[] {
  if (text.startsWith('[Request interrupted by user')) return [{ kind: 'interrupted' }];
  const command = /^\s*<command-name>\/?([\w:.-]{1,80})<\/command-name>/.exec(text)?.[1];
  if (command !== undefined) return [{ kind: 'command', name: command }];
  if (meta || text.startsWith('<local-command-') || text.startsWith('<bash-')) return [];
  return [{ kind: 'prompt', origin: 'typed', chars: text.length, tags: [] }];
}

function replyFacts(kind: string, record: JsonObject, text: string): SessionFact[] {
  // The client's own words in the model's place, as after an end and a resume.
  if (record.model === '<synthetic>') return [];
  const ends = record.stop === 'end_turn' || record.stop === 'stop_sequence';
  const said = kind === 'thinking' ? '' : text;
  const model = asString(record.model)?.slice(0, toolCharsMax) ?? '';
  const reply = {
    kind: 'reply' as const,
    model,
    messageId: '',
    usage: usageOf(record.usage),
    ends,
    text: untrusted(said),
  };
  return [said.length < cutChars ? reply : { ...reply, isCut: true }];
}

function usageOf(value: unknown): TokenUsage | null {
  const usage = asObject(value);
  const input = asCount(usage?.i);
  if (usage === null || input === null) return null;
  return {
    input,
    cacheRead: asCount(usage.cr) ?? 0,
    cacheCreate: asCount(usage.cw) ?? 0,
    output: asCount(usage.o) ?? 0,
  };
}

function callFacts(record: JsonObject): SessionFact[] {
  const id = asString(record.call_id);
  if (id === null) return [];
  const tool = asString(record.tool)?.slice(0, toolCharsMax) ?? '';
  const target = asString(record.target)?.slice(0, textCharsMax) ?? '';
  // The arguments themselves are not in the file, only their hash.
  const sign = callSign(tool, target, asString(record.args_hash)?.slice(0, toolCharsMax) ?? target, allTools);
  return [{ kind: 'tool-call', id: id.slice(0, toolCharsMax), tool, about: null, sign }];
}

function resultFacts(record: JsonObject, text: string): SessionFact[] {
  const id = asString(record.call_id);
  if (id === null) return [];
  const isError = record.is_error === true;
  const chars = asCount(record.out_len) ?? text.length;
  // Of a long output only its beginning is there; its hash tells the rest apart.
  const whole = chars <= text.length || isError ? null : (asString(record.out_hash)?.slice(0, toolCharsMax) ?? null);
  const sign = resultSign(text, isError, { chars, hash: whole === '' ? null : whole, excuses: allExcuses });
  return [{ kind: 'tool-result', id: id.slice(0, toolCharsMax), isError, started: null, sign }];
}

function apiError(record: JsonObject, text: string, atMs: number | null): SessionFact {
  const retry = asObject(record.extra);
  // The record is the client's own; only the place of the status differs between its versions.
  const status = statusIn(text);
  const attempt = asCount(retry?.retryAttempt);
  if (record.sub === 'api_error' && retry !== null && attempt !== null) {
    const untilMs = (atMs ?? 0) + (asNumber(retry.retryInMs) ?? 0);
    return { kind: 'retry', attempt, attemptsMax: asCount(retry.maxRetries) ?? 0, status, untilMs };
  }
  const error = errorKindOf(asString(record.err) ?? 'unknown');
  return { kind: 'api-error', error, status, text: untrusted(text.slice(0, 500)), resetsAtMs: null };
}

function compacted(record: JsonObject): SessionFact {
  const metadata = asObject(asObject(record.extra)?.compactMetadata);
  const trigger = asString(metadata?.trigger)?.slice(0, toolCharsMax) ?? 'unknown';
  return { kind: 'compacted', trigger, tokensBefore: asCount(metadata?.preTokens), tokensAfter: null };
}
