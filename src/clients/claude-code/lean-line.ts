// Of a record of a transcript most bytes are read by nobody: a result is in it twice, as the model got it and as the
// client keeps it for its own screen; of the first an output's start is enough nearly always; thoughts are nobody's
// business. What can be left out for sure is cut out before the record is decoded and parsed.
//
// All marks that are looked for have a quote after a comma and a letter behind it. That cannot be inside a text, where
// quotes are escaped, nor at its end: it is where a key begins.
import { decoded } from '../decoded.ts';

/** Shorter records are read whole in the same time. */
const worthBytes = 1_500;
const tailBytesMax = 1_500;
const copyKey = Buffer.from(',"toolUseResult":');
/** Looked for by its end: a search is as fast as its first letter is rare. */
const copyKeyEnd = Buffer.from('UseResult":');
/** Keys of the record that come after the copy, in the present version and in older ones. */
const tailKeys = [Buffer.from(',"userType":"'), Buffer.from(',"uuid":"')];
/** `backgroundTaskId` and `agentId`: work left running. `parentUuid`: a write that broke off, and the next record behind it. */
const readKeys = [Buffer.from('Id":'), Buffer.from('Uuid":')];
const outputKey = Buffer.from('"type":"tool_result","content":"');
const outputEnd = Buffer.from('}]},"');
const outputEndBytesMax = 400;
const errorFlag = /","is_error":(?:true|false)$/;
const errorFlagBytesMax = 20;
/** Of an output this much is read at once. */
const outputStartBytes = 1_000;
const outputStartBytesMin = 600;
const outputWorthBytes = 2_000;
const thoughtKey = Buffer.from('{"type":"thinking","thinking":"');
const thoughtMiddle = Buffer.from('","signature":"');
const thoughtEnd = Buffer.from('"}],"stop_reason":');
const thoughtWorthBytes = 600;
const nextText = Buffer.from('","');
const quote = 34;
const blank = 32;

/** The text of a record without what nobody reads. */
export interface LeanLine {
  text: string;
  of: 'result' | 'thought';
  /** Of a result whose output was cut: where all of it is written. */
  output: Cut | null;
}

interface Cut {
  from: number;
  to: number;
}

/** Null: it has to be read whole. What is left may be no JSON, if the record is not of the usual shape: then, too. */
export function leanLine(line: Buffer): LeanLine | null {
  if (line.length < worthBytes) return null;
  const found = line.indexOf(copyKeyEnd);
  if (found < 0) {
    const thought = thoughtIn(line);
    return thought === null ? null : { text: without(line, thought, null), of: 'thought', output: null };
  }
  const copy = copyAt(line, found + copyKeyEnd.length - copyKey.length);
  if (copy === null) return null;
  const output = outputIn(line, copy.from);
  if (output === null) return { text: without(line, copy, null), of: 'result', output: null };
  // A blank is never a part of an escape or of a letter.
  const startEnd = line.lastIndexOf(blank, output.from + outputStartBytes) + 1;
  if (startEnd < output.from + outputStartBytesMin)
    return { text: without(line, copy, null), of: 'result', output: null };
  return { text: without(line, { from: startEnd, to: output.to }, copy), of: 'result', output };
}

function copyAt(line: Buffer, from: number): Cut | null {
  if (from < 0 || !startsAt(line, copyKey, from)) return null;
  const tailFrom = Math.max(from, line.length - tailBytesMax);
  const tail = line.subarray(tailFrom);
  for (const key of tailKeys) {
    const place = tail.lastIndexOf(key);
    if (place < 0) continue;
    const to = tailFrom + place;
    const copy = line.subarray(from, to);
    return readKeys.some((read) => copy.includes(read)) ? null : { from, to };
  }
  return null;
}

/** The text of the only result of a record, whose message ends a little before the copy. */
function outputIn(line: Buffer, copyFrom: number): Cut | null {
  const found = line.indexOf(outputKey);
  const from = found + outputKey.length;
  const end = line.lastIndexOf(outputEnd, copyFrom + 2 - outputEnd.length);
  if (found < 0 || end < copyFrom - outputEndBytesMax || end - from < outputWorthBytes) return null;
  if (!isLetter(line[end + outputEnd.length] as number)) return null;
  const flag = errorFlag.exec(line.toString('latin1', end - errorFlagBytesMax, end));
  const to = flag === null ? end - 1 : end - flag[0].length;
  if (line[to] !== quote) return null;
  // Two texts side by side: there is more in it than the one.
  const second = line.indexOf(nextText, from);
  return second >= 0 && second < to ? null : { from, to };
}

function thoughtIn(line: Buffer): Cut | null {
  const found = line.indexOf(thoughtKey);
  if (found < 0) return null;
  const from = found + thoughtKey.length;
  const middle = line.indexOf(nextText, from);
  if (middle < 0 || !startsAt(line, thoughtMiddle, middle)) return null;
  const to = line.indexOf(thoughtEnd, middle);
  const second = line.indexOf(nextText, middle + thoughtMiddle.length);
  return to < 0 || to - from < thoughtWorthBytes || (second >= 0 && second < to) ? null : { from, to };
}

function startsAt(line: Buffer, mark: Buffer, at: number): boolean {
  return line.compare(mark, 0, mark.length, at, at + mark.length) === 0;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** What is left is put together before it is decoded: a text made of several is copied once more to be parsed. */
function without(line: Buffer, first: Cut, second: Cut | null): string {
  const bytes = line.length - (first.to - first.from) - (second === null ? 0 : second.to - second.from);
  if (left.length < bytes) left = Buffer.allocUnsafe(bytes);
  let end = line.copy(left, 0, 0, first.from);
  end += line.copy(left, end, first.to, second?.from ?? line.length);
  if (second !== null) line.copy(left, end, second.to);
  return decoded(left.subarray(0, bytes));
}

/** Written anew for each line. Kept here: to allocate one for every line takes longer than to cut it. */
let left = Buffer.allocUnsafe(64 * 1024);

/** A text as it is written in a record; null: it is none. */
export function writtenText(bytes: Buffer): string | null {
  try {
    const text: unknown = JSON.parse(`"${decoded(bytes)}"`);
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
