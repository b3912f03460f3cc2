// What the real client wrote, in the recorded version and in older ones, is read without loss; an independent and
// simpler computation over the same files is the judge.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { parseTranscriptLine } from '../../src/clients/claude-code/transcript.ts';
import { newSession, type SessionFacts, takeEvent } from '../../src/detect/session.ts';
import { ownFiles } from '../../src/sense/files.ts';
import { followLimits, LineFollower } from '../../src/sense/line-follower.ts';

const folder = path.join(import.meta.dirname, '../fixtures/transcripts');
const scratch = mkdtempSync(path.join(tmpdir(), 'wk-transcripts-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const transcripts = ['claude-code-2.1.325', 'older'].flatMap((version) =>
  readdirSync(path.join(folder, version)).map((name) => {
    const bytes = readFileSync(path.join(folder, version, name));
    return { name: `${version}/${name}`, text: (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8') };
  }),
);

// biome-ignore lint/suspicious/noExplicitAny: records of five versions, looked at here as they are.
type Loose = any;

interface Reading {
  lines: string[];
  invalid: number;
  kinds: Map<string, number>;
  facts: SessionFacts;
}

/** As the daemon reads it, from a file that is as long as it gets, in pieces of this size. */
function readAll(text: string, pollBytesMax: number): Reading {
  const file = path.join(scratch, 'transcript.jsonl');
  writeFileSync(file, text);
  const follower = new LineFollower(ownFiles(process.getuid?.() ?? 0), file, { ...followLimits, pollBytesMax });
  const reading: Reading = { lines: [], invalid: 0, kinds: new Map(), facts: newSession() };
  for (let more = true; more; ) {
    const batch = follower.poll();
    expect(batch.failure).toBeNull();
    more = batch.more;
    for (const line of batch.lines) {
      reading.lines.push(line.text);
      const parsed = parseTranscriptLine(line.text, String(line.offset));
      if (!parsed.ok) reading.invalid += 1;
      else if (!parsed.sidechain) {
        for (const event of parsed.events) {
          reading.kinds.set(event.fact.kind, (reading.kinds.get(event.fact.kind) ?? 0) + 1);
          takeEvent(reading.facts, event);
        }
      }
    }
  }
  return reading;
}

function recordsOf(text: string): Loose[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value = JSON.parse(line);
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

function mainRecords(text: string): Loose[] {
  return recordsOf(text).filter((record) => record.isSidechain !== true);
}

/** The last figure the model server gave, or what a compaction left of it. */
function contextOf(text: string): number | null {
  for (const record of mainRecords(text).reverse()) {
    const after = record.subtype === 'compact_boundary' ? record.compactMetadata?.postTokens : undefined;
    if (typeof after === 'number') return after;
    if (record.type !== 'assistant' || record.isApiErrorMessage || record.message?.model === '<synthetic>') continue;
    const {
      input_tokens = 0,
      cache_read_input_tokens = 0,
      cache_creation_input_tokens = 0,
    } = record.message?.usage ?? {};
    const used = input_tokens + cache_read_input_tokens + cache_creation_input_tokens;
    if (used > 0) return used;
  }
  return null;
}

/** By the last record that says anything about it. */
function turnOf(text: string): 'none' | 'open' | 'closed' {
  for (const record of mainRecords(text).reverse()) {
    if (record.type === 'system' && record.subtype === 'turn_duration') return 'closed';
    if (record.type === 'assistant' && record.isApiErrorMessage) return 'closed';
    if (record.type === 'assistant' && record.message?.model !== '<synthetic>')
      return ['end_turn', 'stop_sequence'].includes(record.message?.stop_reason) ? 'closed' : 'open';
    if (record.type !== 'user' || record.isCompactSummary || record.isVisibleInTranscriptOnly) continue;
    const content = record.message?.content;
    if (Array.isArray(content) && content.some((part: Loose) => part.type === 'tool_result')) return 'open';
    const said = typeof content === 'string' ? content : content.map((part: Loose) => part.text ?? '').join('\n');
    if (said.startsWith('[Request interrupted by user')) return 'closed';
    if (record.isMeta || /^\s*<(command-name|local-command|bash-)/.test(said)) continue;
    return 'open';
  }
  return 'none';
}

function count(text: string, fits: (record: Loose) => boolean): number {
  return mainRecords(text).filter(fits).length;
}

describe('every transcript of the real client', () => {
  it('is there', () => {
    expect(transcripts.length).toBeGreaterThanOrEqual(13);
  });

  it.each(transcripts)('$name: every line is read and parsed, in pieces of any size', ({ text }) => {
    const lines = text.split('\n').filter((line) => line !== '');
    for (const pieceBytes of [followLimits.pollBytesMax, 4_099, 64 * 1024 + 1]) {
      const reading = readAll(text.endsWith('\n') ? text : `${text}\n`, pieceBytes);
      expect(reading.lines).toEqual(lines);
      expect(reading.invalid).toBe(lines.length - recordsOf(text).length);
    }
  });

  it.each(transcripts)('$name: context, turn and counts are what a plain look at the records says', ({ text }) => {
    const { facts, kinds } = readAll(`${text.trimEnd()}\n`, followLimits.pollBytesMax);
    expect(facts.contextUsed).toBe(contextOf(text));
    expect(facts.turn).toBe(turnOf(text));
    expect(kinds.get('turn-end') ?? 0).toBe(count(text, (record) => record.subtype === 'turn_duration'));
    expect(kinds.get('compacted') ?? 0).toBe(count(text, (record) => record.subtype === 'compact_boundary'));
    expect(kinds.get('api-error') ?? 0).toBe(count(text, (record) => record.isApiErrorMessage === true));
    expect(kinds.get('retry') ?? 0).toBe(count(text, (record) => record.subtype === 'api_error'));
    const parts = (type: string) =>
      mainRecords(text)
        .filter((record) => record.type === 'user' || record.type === 'assistant')
        .flatMap((record) => (Array.isArray(record.message?.content) ? record.message.content : []))
        .filter((part: Loose) => part.type === type).length;
    expect(kinds.get('tool-call') ?? 0).toBe(parts('tool_use'));
    expect(kinds.get('tool-result') ?? 0).toBe(parts('tool_result'));
  });

  it.each(transcripts)('$name: damaged lines in between change a counter and nothing else', ({ text }) => {
    const lines = text.split('\n').filter((line) => line !== '');
    const damaged = lines.flatMap((line, index) => {
      if (index % 5 === 0) return [line.slice(0, line.length / 2), line];
      if (index % 7 === 0) return ['\u0000\u001b[2J\ufffd', line];
      return [line];
    });
    const clean = readAll(`${lines.join('\n')}\n`, followLimits.pollBytesMax);
    const reading = readAll(`${damaged.join('\n')}\n${lines[0]?.slice(0, 10)}`, 10_007);
    expect(reading.invalid).toBe(clean.invalid + damaged.length - lines.length);
    expect(reading.facts).toEqual(clean.facts);
    expect(reading.kinds).toEqual(clean.kinds);
  });
});

describe('the fixtures', () => {
  it('hold what the reader has to cope with', () => {
    const all = transcripts.flatMap(({ text }) => recordsOf(text));
    const has = (fits: (record: Loose) => boolean) => expect(all.some(fits)).toBe(true);
    has((record) => record.isSidechain === true);
    has((record) => record.subtype === 'compact_boundary');
    has((record) => record.isApiErrorMessage === true);
    has((record) => record.subtype === 'api_error');
    has((record) => record.type === 'progress');
    has((record) => record.type === 'queue-operation');
    expect(new Set(all.map((record) => record.version)).size).toBeGreaterThan(4);
  });
});
