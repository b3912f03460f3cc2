// The same run in other words — other tools' names, ids, paths, languages, clocks — has the same findings.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../../test/runs/scripted-run.ts';
import { parseTranscriptLine } from '../clients/claude-code/transcript.ts';
import { allExcuses } from '../clients/clients.ts';
import { asObjects, asString, type JsonObject } from '../clients/json.ts';
import { parseNeutralLine } from '../clients/neutral-run.ts';
import { resultSign } from '../clients/signs.ts';
import { RunJudge } from '../detect/loops/judge.ts';
import { digest } from '../model/digest.ts';
import type { RunEvent } from '../model/run-event.ts';

const own = path.resolve(import.meta.dirname, '../../test/fixtures/runs');
const shared = [path.resolve(import.meta.dirname, '../../../shared/data')].find(existsSync);

/** A call or a result of either format, to be said differently. */
interface Part {
  kind: 'call' | 'result';
  id: string;
  tool: string;
  words: Record<string, unknown>;
  output: string;
  isError: boolean;
}

interface Way {
  /** `called`: every word of every call of the run. */
  part?: (part: Part, called: ReadonlySet<string>) => Partial<Part>;
  time?: (ms: number) => number;
}

function perturbedParts(records: JsonObject[], way: Way): JsonObject[] {
  const called = new Set<string>();
  const said = (change: (part: Part) => Part) =>
    records.map((record) => (record.type === undefined ? neutral(record, change) : transcript(record, change)));
  said((part) => {
    for (const word of wordsOf(JSON.stringify(part.words))) called.add(word);
    return part;
  });
  return said((part) => ({ ...part, ...way.part?.(part, called) })).map((record) => retimed(record, way));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? [];
}

function neutral(record: JsonObject, change: (part: Part) => Part): JsonObject {
  const kind = { tool_call: 'call' as const, tool_result: 'result' as const }[String(record.kind)];
  const id = asString(record.call_id);
  if (kind === undefined || id === null) return record;
  const [tool, target, text] = [record.tool, record.target, record.text].map((value) => asString(value) ?? '');
  const part = change({
    kind,
    id,
    tool: tool ?? '',
    words: kind === 'call' && target !== '' ? { target } : {},
    output: text ?? '',
    isError: record.is_error === true,
  });
  const said = kind === 'result' && record.text !== undefined ? { text: part.output } : {};
  return { ...record, call_id: part.id, ...(kind === 'call' ? { tool: part.tool } : {}), ...part.words, ...said };
}

function transcript(record: JsonObject, change: (part: Part) => Part): JsonObject {
  const message = record.message as JsonObject | undefined;
  const content = asObjects(message?.content);
  if (!content.some(({ type }) => type === 'tool_use' || type === 'tool_result')) return record;
  const changed = content.map((block) => {
    if (block.type === 'tool_use') {
      const [id, tool] = [String(block.id), String(block.name)];
      const part = change({ kind: 'call', id, tool, words: block.input as JsonObject, output: '', isError: false });
      return { ...block, id: part.id, name: part.tool, input: part.words };
    }
    if (block.type !== 'tool_result' || typeof block.content !== 'string') return block;
    const [id, output] = [String(block.tool_use_id), block.content];
    const part = change({ kind: 'result', id, tool: '', words: {}, output, isError: block.is_error === true });
    return { ...block, tool_use_id: part.id, content: part.output };
  });
  return { ...record, message: { ...message, content: changed } };
}

function retimed(record: JsonObject, { time }: Way): JsonObject {
  if (time === undefined) return record;
  if (typeof record.ts === 'number') return { ...record, ts: time(record.ts * 1000) / 1000 };
  const stamp = asString(record.timestamp);
  return stamp === null ? record : { ...record, timestamp: new Date(time(Date.parse(stamp))).toISOString() };
}

const otherNames: Record<string, string> = {
  Bash: 'run_shell_command',
  bash: 'execute_bash',
  Edit: 'replace',
  Write: 'write_file',
  MultiEdit: 'mcp__files__edit_file',
  Read: 'read_file',
  Grep: 'search_file_content',
  Glob: 'list_files',
  TodoWrite: 'update_plan',
  Task: 'spawn_agent',
  AskUserQuestion: 'request_user_input',
  edit: 'apply_patch',
  create: 'mcp__files__create_file',
  search_dir: 'mcp__code__search_everywhere',
  find_file: 'lookupFile',
  open: 'mcp__files__open_file',
};

const elsewhere = (text: string) =>
  text.replace(
    /\/(home|root|Users|workspace|app|testbed)\/[\w.-]+/g,
    (place) => `/srv/data/${digest(place).slice(0, 8)}`,
  );

const everywhere = (words: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(words).map(([key, word]) => [key, typeof word === 'string' ? elsewhere(word) : word]),
  );

/** Each letter has its own in another alphabet; the words of calls stay, as they would in any language. */
function translated(text: string, kept: ReadonlySet<string>): string {
  return text.replace(/[\p{L}\p{N}_$]+/gu, (word) =>
    kept.has(word.toLowerCase())
      ? word
      : word.toLowerCase().replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 97 + 0x430)),
  );
}

const ways: [string, Way][] = [
  ["other clients' names for the tools", { part: ({ tool }) => ({ tool: otherNames[tool] ?? tool }) }],
  ['other ids', { part: ({ id }) => ({ id: `call-${digest(id).slice(0, 12)}` }) }],
  ['other paths', { part: ({ words, output }) => ({ words: everywhere(words), output: elsewhere(output) }) }],
  [
    'outputs in another language',
    {
      part: ({ kind, output, isError }, called) => {
        const isOwn = kind === 'call' || resultSign(output, isError, { excuses: allExcuses }).excuse !== null;
        return isOwn ? {} : { output: translated(output, called) };
      },
    },
  ],
  ['another day', { time: (ms) => ms + 40 * 86_400_000 }],
  ['whole seconds', { time: (ms) => Math.floor(ms / 1000) * 1000 }],
];

function findings(records: JsonObject[]): string[] {
  const told: string[] = [];
  const judge = new RunJudge(limits, ({ event, finding }) => {
    if (event === 'open') told.push(`${finding.check} from ${finding.from} at ${finding.index}`);
  });
  records.forEach((record, index) => {
    for (const event of eventsOf(JSON.stringify(record), record.type === undefined, index)) judge.take(event);
  });
  return told;
}

function eventsOf(line: string, isNeutral: boolean, index: number): RunEvent[] {
  if (isNeutral) {
    const parsed = parseNeutralLine(line);
    return parsed.ok ? parsed.events : [];
  }
  const parsed = parseTranscriptLine(line, String(index));
  return parsed.ok ? parsed.events.map((event) => ({ ...event, index, side: parsed.sidechain })) : [];
}

function readRecords(file: string): JsonObject[] {
  return gunzipSync(readFileSync(file))
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line.trim() === '' ? [] : [JSON.parse(line) as JsonObject];
      } catch {
        return [];
      }
    });
}

const filesIn = (folder: string) =>
  readdirSync(path.join(folder, 'events')).map((file) => path.join(folder, 'events', file));

describe.each([
  ['our own run of the real client', own, 1],
  ['the labelled runs (needs ../shared/data, skipped without)', shared, 100],
])('findings in %s stay the same', (_, folder, runsMin) => {
  const files = folder === undefined ? [] : filesIn(folder);
  const runs = files.map((file) => ({ file: path.basename(file), records: readRecords(file) }));

  it.skipIf(folder === undefined).each(ways)(
    'with %s',
    (_, way) => {
      expect(runs.length).toBeGreaterThanOrEqual(runsMin);
      const all = (perturb: (records: JsonObject[]) => JsonObject[]) =>
        runs.map(({ file, records }) => [file, findings(perturb(records))]);
      const before = all((records) => records);
      expect(before.flatMap(([, told]) => told).length).toBeGreaterThan(0);
      expect(all((records) => perturbedParts(records, way))).toEqual(before);
    },
    60_000,
  );
});
