import path from 'node:path';
import { digest } from '../../model/digest.ts';
import type { CallSign, CallWords, SessionFact, StartedWork, TokenUsage } from '../../model/session-event.ts';
import { type UntrustedText, untrusted } from '../../model/text.ts';
import type { ParsedLine } from '../client.ts';
import {
  asCount,
  asNumber,
  asObject,
  asObjects,
  asString,
  asTime,
  asTimeMs,
  type JsonObject,
  parseObject,
} from '../json.ts';
import { callSign, resultSign, statusIn } from '../signs.ts';
import { tagsIn } from '../tags.ts';
import { askedText } from './asked.ts';
import { errorKind } from './errors.ts';
import { excuses } from './excuses.ts';
import { tools } from './tools.ts';

// More than is shown: a secret that is cut off is not known as one.
const replyCharsMax = 12_000;
const errorCharsMax = 2_000;
const pathCharsMax = 4_096;
const descriptionCharsMax = 2_000;
const labelCharsMax = 60;
const editCharsMax = 64_000;
/** One record says one thing, or a few: a hostile one could say a hundred thousand. */
const factsMax = 100;
/** A command of the user's own begins a turn; its record names the message first. */
const userCommand =
  /^\s*<command-message>[^<]{0,200}<\/command-message>\s*<command-name>\/?([\w:.-]{1,80})<\/command-name>/;
const unknownCommand = /^Unknown (?:slash )?command: ?\/?([\w:.-]{0,79}[\w:-])/;

/** What was left out of a line before it came here. */
export interface CutLine {
  /** A result's copy, and of its output all but the start; or a thought. */
  of: 'result' | 'thought';
  /** The whole of the output that was cut. */
  output: Output;
}

type Output = (() => string) | null;

/** One line of `<sessionId>.jsonl`. Record types that say nothing about the agent's state give no event. */
export function parseTranscriptLine(line: string, place: string, cut: CutLine | null = null): ParsedLine {
  const record = parseObject(line);
  if (record === null || (cut !== null && !isOf(record, cut))) return { ok: false };
  const atMs = asTime(record.timestamp);
  // The time tells a record apart from one that stood in its place before the file was cut.
  const key = asString(record.uuid) ?? `${place}@${atMs}`;
  const facts = factsOf(record, cut?.output ?? null).slice(0, factsMax);
  // A few record types carry no time of their own; their neighbours in the file do.
  const events = facts.map((fact, index) => ({ atMs: atMs ?? Number.NaN, key: `${key}#${index}`, fact }));
  return { ok: true, events, sidechain: record.isSidechain === true };
}

/** What was cut was of the record itself, and not of something that looks like one. */
function isOf(record: JsonObject, { of, output }: CutLine): boolean {
  const content = asObject(record.message)?.content;
  const [only] = Array.isArray(content) && content.length === 1 ? content : [];
  if (of === 'thought') return record.type === 'assistant' && asObject(only)?.type === 'thinking';
  return record.type === 'user' && (output === null || only !== undefined);
}

function factsOf(record: JsonObject, output: Output): SessionFact[] {
  switch (record.type) {
    case 'user':
      return userFacts(record, output);
    case 'assistant':
      return assistantFacts(record);
    case 'system':
      return systemFacts(record);
    case 'queue-operation':
      return queueFacts(record);
    case 'attachment':
      return attachmentFacts(record);
    case 'progress':
      return [{ kind: 'progress' }];
    case 'api-request': {
      // Written for each attempt of the main conversation; a compaction's own request leaves none.
      const digest = asString(record.requestDigest);
      return digest === null || record.querySource !== 'repl_main_thread'
        ? []
        : [{ kind: 'request', digest: digest.slice(0, 16) }];
    }
    case 'cost-state': {
      const usd = asNumber(record.totalCostUSD);
      return usd === null || usd < 0 ? [] : [{ kind: 'cost', usd }];
    }
    default:
      return [];
  }
}

function userFacts(record: JsonObject, output: Output): SessionFact[] {
  const content = asObject(record.message)?.content;
  const parts = asObjects(content);
  const results = parts.filter((part) => part.type === 'tool_result');
  if (results.length > 0) {
    return results.flatMap((part): SessionFact[] => {
      const id = asString(part.tool_use_id);
      return id === null
        ? []
        : [
            {
              kind: 'tool-result',
              id,
              isError: part.is_error === true,
              started: startedWork(record.toolUseResult, part),
              sign: resultSign(resultText(part), part.is_error === true, { whole: output, excuses: [excuses] }),
            },
          ];
    });
  }
  const text = asString(content) ?? parts.map((part) => asString(part.text) ?? '').join('\n');
  if (text.startsWith('[Request interrupted by user')) return [{ kind: 'interrupted' }];
  const ended = backgroundEnded(text);
  if (record.isCompactSummary === true || record.isVisibleInTranscriptOnly === true) return ended;
  const command = /^\s*<command-name>\/?([\w:.-]{1,80})<\/command-name>/.exec(text)?.[1];
  if (command !== undefined) return [...ended, { kind: 'command', name: command }];
  if (text.startsWith('<local-command-') || text.startsWith('<bash-')) return ended;
  const origin = promptOrigin(record);
  if (origin === null) return ended;
  const own = userCommand.exec(text)?.[1];
  const prompt = { kind: 'prompt' as const, origin, chars: text.length, tags: tagsIn(text) };
  return [...ended, own === undefined ? prompt : { ...prompt, command: own }];
}

function promptOrigin(record: JsonObject): 'typed' | 'queued' | 'client' | null {
  if (record.promptSource === 'queued') return 'queued';
  if (record.promptSource === 'system' || asObject(record.origin)?.kind === 'task-notification') return 'client';
  // Meta records are notes to the model, such as a stop hook's feedback; they do not begin a turn by themselves.
  return record.isMeta === true ? null : 'typed';
}

/** Work that goes on after its tool call returned: a background shell or an asynchronous subagent. */
function startedWork(value: unknown, part: JsonObject): StartedWork | null {
  const result = asObject(value);
  if (result === null) return null;
  const shell = asString(result.backgroundTaskId);
  if (shell !== null) return { kind: 'shell', id: shell, output: shellOutput(shell, part) };
  const agent = asString(result.agentId);
  return agent !== null && (result.isAsync === true || result.status === 'async_launched')
    ? { kind: 'subagent', id: agent, output: absolute(asString(result.outputFile)) }
    : null;
}

/** Only the client's own words to the model name the file. */
function shellOutput(id: string, part: JsonObject): string | null {
  const text = asString(part.content) ?? asString(asObjects(part.content)[0]?.text) ?? '';
  const named = /^Command .{0,200}Output is being written to: (\/[^\n]{1,4000}?\.output)\.(\s|$)/.exec(text)?.[1];
  return named?.endsWith(`/${id}.output`) ? absolute(named) : null;
}

function absolute(file: string | null): string | null {
  return file !== null && path.isAbsolute(file) && file.length <= pathCharsMax ? path.normalize(file) : null;
}

const words = { Bash: bashWords, Agent: agentWords, Task: agentWords } as const;

function resultText(part: JsonObject): string {
  return (
    asString(part.content) ??
    asObjects(part.content)
      .map((piece) => asString(piece.text) ?? pictureText(piece))
      .join('\n')
  );
}

/** A picture is no empty answer, and another picture another one. */
function pictureText(piece: JsonObject): string {
  const data = asString(asObject(piece.source)?.data);
  return data === null ? '' : `[picture] ${data.length} ${data.slice(-40)}`;
}

const targetKeys = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'query', 'url', 'prompt'] as const;

function signOf(tool: string, value: unknown): CallSign {
  const input = asObject(value) ?? {};
  const key = targetKeys.find((name) => asString(input[name]) !== null);
  const sign = callSign(tool.slice(0, 200), key === undefined ? '' : String(input[key]), input, tools);
  const [from, to] = [asString(input.old_string), asString(input.new_string)];
  return from === null || to === null
    ? sign
    : { ...sign, edit: { from: digest(from.slice(0, editCharsMax)), to: digest(to.slice(0, editCharsMax)) } };
}

/** After the variables that are set for it. */
const firstProgram = /^\s*(?:\w+=\S*\s+)*(?!\w+=)(\S+)/;

function bashWords(input: JsonObject): CallWords {
  const command = asString(input.command) ?? '';
  const program = firstProgram.exec(command)?.[1];
  return {
    description: untrusted((asString(input.description) ?? command).slice(0, descriptionCharsMax) || null),
    label: program === undefined ? null : untrusted(path.basename(program).slice(0, labelCharsMax)),
  };
}

function agentWords(input: JsonObject): CallWords {
  return {
    description: untrusted(asString(input.description)?.slice(0, descriptionCharsMax) ?? null),
    label: untrusted(asString(input.subagent_type)?.slice(0, labelCharsMax) ?? null),
  };
}

function callWords(tool: string, value: unknown): CallWords | null {
  const input = asObject(value);
  return input !== null && Object.hasOwn(words, tool) ? words[tool as keyof typeof words](input) : null;
}

/** The client tells the model about ended background work in a block of its own making. */
function backgroundEnded(text: string): SessionFact[] {
  if (!text.startsWith('<task-notification>')) return [];
  const head = text.slice(0, 4_000);
  const id = /<task-id>([\w-]{1,80})<\/task-id>/.exec(head)?.[1];
  const status = /<status>(\w{1,40})<\/status>/.exec(head)?.[1];
  const summary = /<summary>([^<]{1,500})<\/summary>/.exec(head)?.[1] ?? null;
  return id === undefined
    ? []
    : [{ kind: 'background-ended', id, status: status ?? 'ended', text: untrusted(summary) }];
}

function assistantFacts(record: JsonObject): SessionFact[] {
  const message = asObject(record.message);
  if (message === null) return [];
  if (record.isApiErrorMessage === true) return [apiError(record, message)];
  const facts: SessionFact[] = [];
  // Only the requested name tells the variants with a larger window apart.
  const model = asString(record.requestedModel) ?? asString(message.model) ?? '';
  const tools = asObjects(message.content).filter((part) => part.type === 'tool_use');
  if (message.model !== '<synthetic>') {
    const ends = message.stop_reason === 'end_turn' || message.stop_reason === 'stop_sequence';
    facts.push({
      kind: 'reply',
      model,
      messageId: asString(message.id) ?? '',
      usage: usageOf(message.usage),
      ends,
      ...replyText(message),
    });
  }
  for (const part of tools) {
    const id = asString(part.id);
    const tool = asString(part.name);
    if (id !== null && tool !== null) {
      const about = callWords(tool, part.input);
      const sign = signOf(tool, part.input);
      facts.push({ kind: 'tool-call', id, tool: tool.slice(0, 200), about, sign, asks: askedText(tool, part.input) });
    }
  }
  return facts;
}

function replyText(message: JsonObject): { text: UntrustedText; isCut: boolean } {
  const parts = asObjects(message.content).filter((part) => part.type === 'text');
  const text = parts.map((part) => asString(part.text) ?? '').join('\n');
  if (text.length <= replyCharsMax) return { text: untrusted(text), isCut: false };
  // The end too: there an agent says that it is done.
  const ends = `${text.slice(0, replyCharsMax / 2)}\n${text.slice(-replyCharsMax / 2)}`;
  return { text: untrusted(ends), isCut: true };
}

function usageOf(value: unknown): TokenUsage | null {
  const usage = asObject(value);
  const input = asCount(usage?.input_tokens);
  if (usage === null || input === null) return null;
  return {
    input,
    cacheRead: asCount(usage.cache_read_input_tokens) ?? 0,
    cacheCreate: asCount(usage.cache_creation_input_tokens) ?? 0,
    output: asCount(usage.output_tokens) ?? 0,
  };
}

function apiError(record: JsonObject, message: JsonObject): SessionFact {
  const text = asObjects(message.content)
    .map((part) => asString(part.text) ?? '')
    .join(' ');
  const resets = asNumber(asObject(record.quotaLimits)?.resetsAt);
  return {
    kind: 'api-error',
    error: errorKind(asString(record.error)),
    status: asNumber(record.apiErrorStatus) ?? statusIn(text),
    text: untrusted(text.slice(0, errorCharsMax)),
    resetsAtMs: resets === null ? null : asTimeMs(resets * 1000),
  };
}

function systemFacts(record: JsonObject): SessionFact[] {
  switch (record.subtype) {
    case 'turn_duration':
      return [
        {
          kind: 'turn-end',
          durationMs: asNumber(record.durationMs),
          pendingSubagents: asCount(record.pendingBackgroundAgentCount) ?? 0,
        },
      ];
    case 'compact_boundary': {
      const metadata = asObject(record.compactMetadata);
      return [
        {
          kind: 'compacted',
          trigger: asString(metadata?.trigger) ?? 'unknown',
          tokensBefore: asCount(metadata?.preTokens),
          tokensAfter: asCount(metadata?.postTokens),
        },
      ];
    }
    // Older versions record each retry; the present one is silent until it gives up.
    case 'api_error': {
      const waitMs = asNumber(record.retryInMs) ?? 0;
      return [
        {
          kind: 'retry',
          attempt: asCount(record.retryAttempt) ?? 0,
          attemptsMax: asCount(record.maxRetries) ?? 0,
          status: asNumber(asObject(record.error)?.status),
          untilMs: asTimeMs((asTime(record.timestamp) ?? 0) + waitMs) ?? 0,
        },
      ];
    }
    case 'informational': {
      const name = unknownCommand.exec(asString(record.content) ?? '')?.[1];
      return name === undefined ? [] : [{ kind: 'unknown-command', name }];
    }
    default:
      return [];
  }
}

function queueFacts(record: JsonObject): SessionFact[] {
  if (record.operation !== 'enqueue') return [];
  const content = asString(record.content) ?? '';
  const ended = backgroundEnded(content);
  return ended.length > 0 ? ended : [{ kind: 'queued', chars: content.length, tags: tagsIn(content) }];
}

function attachmentFacts(record: JsonObject): SessionFact[] {
  const attachment = asObject(record.attachment);
  if (attachment?.type !== 'queued_command') return [];
  const text = asString(attachment.prompt) ?? '';
  return [{ kind: 'prompt', origin: 'mid-turn', chars: text.length, tags: tagsIn(text) }];
}
