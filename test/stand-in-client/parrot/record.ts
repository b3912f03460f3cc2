import type { ParsedLine } from '../../../src/clients/client.ts';
import { asCount, asString, asTime, type JsonObject, parseObject } from '../../../src/clients/json.ts';
import { callSign, resultSign } from '../../../src/clients/signs.ts';
import { tagsIn } from '../../../src/clients/tags.ts';
import type { ErrorKind } from '../../../src/model/error-kind.ts';
import type { SessionFact } from '../../../src/model/session-event.ts';
import { untrusted } from '../../../src/model/text.ts';

/** Its words for what went wrong. */
const kinds: Readonly<Record<string, ErrorKind>> = {
  crowded: 'overloaded',
  broke: 'rate_limit',
  stranger: 'authentication_failed',
};

/** One line of a `.talk` file: `{"n": 3, "when": …, "what": …}`. */
export function parseLine(line: string, place: string): ParsedLine {
  const entry = parseObject(line);
  const atMs = asTime(entry?.when);
  if (entry === null || atMs === null) return { ok: false };
  const fact = factOf(entry);
  const key = `${entry.n ?? place}@${atMs}`;
  return { ok: true, events: fact === null ? [] : [{ atMs, key, fact }], sidechain: false };
}

function factOf(entry: JsonObject): SessionFact | null {
  const text = asString(entry.text) ?? '';
  const id = asString(entry.id) ?? '';
  switch (entry.what) {
    case 'begin':
      return { kind: 'progress' };
    case 'you':
      return { kind: 'prompt', origin: 'typed', chars: text.length, tags: tagsIn(text) };
    case 'later':
      return { kind: 'queued', chars: text.length, tags: tagsIn(text) };
    case 'me': {
      const tokens = asCount(entry.tokens);
      const usage = tokens === null ? null : { input: tokens, cacheRead: 0, cacheCreate: 0, output: 1 };
      return {
        kind: 'reply',
        model: 'polly',
        messageId: key(entry),
        usage,
        ends: entry.last === true,
        text: untrusted(text),
      };
    }
    case 'does': {
      const tool = asString(entry.tool) ?? '';
      return { kind: 'tool-call', id, tool, about: null, sign: callSign(tool, text, { text }) };
    }
    case 'did':
      return { kind: 'tool-result', id, isError: false, started: null, sign: resultSign(text, false) };
    case 'trouble': {
      const error = kinds[asString(entry.why) ?? ''] ?? 'unknown';
      return { kind: 'api-error', error, status: null, text: untrusted(text), resetsAtMs: null };
    }
    case 'hushed':
      return { kind: 'interrupted' };
    default:
      return null;
  }
}

function key({ n }: JsonObject): string {
  return String(n);
}
