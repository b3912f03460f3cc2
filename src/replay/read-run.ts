import { stat } from 'node:fs/promises';
import { leanLine, writtenText } from '../clients/claude-code/lean-line.ts';
import { parseTranscriptLine } from '../clients/claude-code/transcript.ts';
import type { ParsedLine } from '../clients/client.ts';
import { isRolloutRecord, parseRolloutLine } from '../clients/codex/rollout.ts';
import { decoded } from '../clients/decoded.ts';
import type { JsonObject } from '../clients/json.ts';
import { parseNeutralLine } from '../clients/neutral/events.ts';
import { digest } from '../model/digest.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { RunEvent, RunLine } from '../model/run-event.ts';
import { eachLine, type LineSource } from './lines.ts';

/** Lines that may be broken before the format has to show. */
const formatLinesMax = 50;
const openBrace = 123;

export type RunFormat = 'neutral' | 'claude-code' | 'codex';

type LineParser = (line: Buffer, index: number, at: number, source: LineSource | null) => RunLine;

const parsers: Record<RunFormat, LineParser> = {
  neutral: (line) => parseNeutralLine(decoded(line)),
  'claude-code': transcriptLine,
  codex: (line, index) => parseRolloutLine(decoded(line), index),
};

export interface RunCounts {
  lines: number;
  events: number;
  malformed: number;
  unstructured: number;
  oversized: number;
}

export type ReadProblem = 'not-found' | 'unreadable' | 'unknown-format';

/** Reads a recorded run, plain or gzipped, line by line: the memory it takes does not grow with the file. */
export async function readRun(
  file: string,
  /** With the counts as they are, of which the event's own line is the last. */
  take: (event: RunEvent, counts: Readonly<RunCounts>) => void,
  read: (bytes: number) => void = () => {},
  /** The last event was taken. */
  end: () => void = () => {},
): Promise<Result<{ format: RunFormat; counts: RunCounts }, ReadProblem>> {
  const found = await stat(file).catch(() => null);
  if (found === null) return fail('not-found', `${file} is not there`, 'name a transcript or an event file');
  if (!found.isFile()) return fail('unreadable', `${file} is not a file`, 'name a transcript or an event file');
  const counts: RunCounts = { lines: 0, events: 0, malformed: 0, unstructured: 0, oversized: 0 };
  let format = null as RunFormat | null;
  try {
    const line = (bytes: Buffer, at: number, source: LineSource | null): boolean => {
      const index = counts.lines;
      counts.lines += 1;
      if (isBlank(bytes)) return true;
      format ??= formatOf(decoded(bytes));
      if (format === null && counts.lines >= formatLinesMax) return false;
      const parsed = parsers[format ?? 'neutral'](bytes, index, at, source);
      if (!parsed.ok) counts[parsed.reason] += 1;
      else {
        for (const event of parsed.events) {
          counts.events += 1;
          take(event, counts);
        }
      }
      return true;
    };
    counts.oversized = await eachLine(file, { line, read, end });
  } catch (error) {
    return fail('unreadable', `${file} cannot be read: ${(error as Error).message}`, 'check the file');
  }
  if (format === null) {
    return fail(
      'unknown-format',
      found.size === 0 ? `${file} is empty` : `${file} is no record of a run`,
      'name a transcript of Claude Code, a rollout of Codex or an event file',
    );
  }
  return ok({ format, counts });
}

function formatOf(line: string): RunFormat | null {
  const neutral = parseNeutralLine(line);
  if (neutral.ok || neutral.reason === 'unstructured') return 'neutral';
  try {
    const record: unknown = JSON.parse(line);
    if (typeof record !== 'object' || record === null) return null;
    if (isRolloutRecord(record as JsonObject)) return 'codex';
    const own = ['sessionId', 'uuid', 'leafUuid', 'messageId'].some((key) => key in record);
    return own && 'type' in record ? 'claude-code' : null;
  } catch {
    return null;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes[0] !== openBrace && decoded(bytes).trim() === '';
}

function transcriptLine(line: Buffer, index: number, at: number, source: LineSource | null): RunLine {
  const place = String(index);
  const lean = leanLine(line);
  let parsed: ParsedLine = { ok: false };
  if (lean !== null) {
    const { text, of, output: cut } = lean;
    const output = cut === null ? null : laterText(line, at, source, cut.from, cut.to);
    parsed = parseTranscriptLine(text, place, { of, output });
  }
  if (!parsed.ok) parsed = parseTranscriptLine(decoded(line), place);
  if (!parsed.ok) return { ok: false, reason: 'malformed' };
  const side = parsed.sidechain;
  return { ok: true, events: parsed.events.map(({ atMs, key, fact }) => ({ atMs, key, fact, index, side })) };
}

/** Hardly any output is ever asked for as a whole: it is read again then, and not kept in memory until. */
function laterText(line: Buffer, at: number, source: LineSource | null, from: number, to: number): () => string {
  const kept = source === null ? Buffer.from(line.subarray(from, to)) : null;
  return () => {
    const bytes = kept ?? source?.again(at + from, at + to) ?? null;
    // What cannot be had any more is like nothing else.
    return (bytes === null ? null : writtenText(bytes)) ?? digest(String(at));
  };
}
