import { digest } from '../../model/digest.ts';
import type { RunLine } from '../../model/run-event.ts';
import type { LineAgain, ParsedLine } from '../client.ts';
import { decoded } from '../decoded.ts';
import type { JsonObject } from '../json.ts';
import { leanLine, writtenText } from './lean-line.ts';
import { parseTranscriptLine } from './transcript.ts';

export function isTranscriptRecord(line: JsonObject): boolean {
  return 'type' in line && ['sessionId', 'uuid', 'leafUuid', 'messageId'].some((key) => key in line);
}

/** A line of a transcript on record. What nobody reads is cut out before it is parsed. */
export function parseRunLine(line: Buffer, index: number, again: LineAgain | null): RunLine {
  const place = String(index);
  const lean = leanLine(line);
  let parsed: ParsedLine = { ok: false };
  if (lean !== null) {
    const { text, of, output: cut } = lean;
    const output = cut === null ? null : laterText(line, place, again, cut.from, cut.to);
    parsed = parseTranscriptLine(text, place, { of, output });
  }
  if (!parsed.ok) parsed = parseTranscriptLine(decoded(line), place);
  if (!parsed.ok) return { ok: false, reason: 'malformed' };
  const side = parsed.sidechain;
  return { ok: true, events: parsed.events.map(({ atMs, key, fact }) => ({ atMs, key, fact, index, side })) };
}

/** Hardly any output is ever asked for as a whole: it is read again then, and not kept in memory until. */
function laterText(line: Buffer, place: string, again: LineAgain | null, from: number, to: number): () => string {
  const kept = again === null ? Buffer.from(line.subarray(from, to)) : null;
  return () => {
    const bytes = kept ?? again?.(from, to) ?? null;
    // What cannot be had any more is like nothing else.
    return (bytes === null ? null : writtenText(bytes)) ?? digest(place);
  };
}
