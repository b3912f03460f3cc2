import { stat } from 'node:fs/promises';
import type { RunSource } from '../clients/client.ts';
import { recordedClients } from '../clients/clients.ts';
import { decoded } from '../clients/decoded.ts';
import { parseObject } from '../clients/json.ts';
import { parseNeutralLine } from '../clients/neutral-run.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { RunEvent } from '../model/run-event.ts';
import { eachLine, type LineSource } from './lines.ts';

/** Lines that may be broken before the format has to show. */
const formatLinesMax = 50;
const openBrace = 123;

/** Who wrote it, by the name of the client; or the neutral format, which comes from any. */
interface RunFormat {
  readonly name: string;
  parseLine: RunSource['parseLine'];
}

const neutral: RunFormat = { name: 'neutral', parseLine: (line) => parseNeutralLine(decoded(line)) };

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
): Promise<Result<{ format: string; counts: RunCounts }, ReadProblem>> {
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
      const again = source === null ? null : (from: number, to: number) => source.again(at + from, at + to);
      const parsed = (format ?? neutral).parseLine(bytes, index, again);
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
      `name ${recordedClients.map(({ runs, title }) => `a ${runs.noun} of ${title}`).join(', ')} or an event file`,
    );
  }
  return ok({ format: format.name, counts });
}

function formatOf(line: string): RunFormat | null {
  const parsed = parseNeutralLine(line);
  if (parsed.ok || parsed.reason === 'unstructured') return neutral;
  const record = parseObject(line);
  const client = record === null ? undefined : recordedClients.find(({ runs }) => runs.isRecord(record));
  return client === undefined ? null : { name: client.name, parseLine: client.runs.parseLine };
}

function isBlank(bytes: Buffer): boolean {
  return bytes[0] !== openBrace && decoded(bytes).trim() === '';
}
