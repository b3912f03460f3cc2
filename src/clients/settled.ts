import { digest, digestOf, highFactor, highStart, lowFactor, lowStart } from '../model/digest.ts';
import { isWideBlank } from './blanks.ts';

/**
 * The digest of an output without what changes by itself from one run of the same command to the next: blanks, times,
 * durations, temp paths, ids, addresses; of an error every number. One pass, because this is most of what a record
 * costs to judge: nearly all of a transcript is output.
 */
export function settledDigest(text: string, tail: string, isError: boolean): string {
  const hash = scan(text, isError, Number.POSITIVE_INFINITY);
  return tail === '' ? hash : digest(`${hash} ${tail}`);
}

/** Of its first few characters only: outputs with another start have another digest. */
export interface SettledStart {
  start: string;
  /** It is the digest of all of it. */
  isWhole: boolean;
  /** More after the text would change nothing. */
  isSure: boolean;
}

export function settledStart(text: string, isError: boolean): SettledStart {
  let start = '';
  let isSure = false;
  // Nearly always the first few are enough; there may be many blanks.
  for (const chars of startCharsRead) {
    const part = text.length > chars ? text.slice(0, chars) : text;
    start = scan(part, isError, startCharsSaid);
    isSure = scannedChars <= part.length - lookAheadChars;
    if (isSure || part === text) break;
  }
  return { start, isWhole: scannedChars >= text.length, isSure };
}

const startCharsSaid = 200;
/** More than ever is compared; what is longer is cut before. */
const codesMax = 16_384;
const startCharsRead = [600, codesMax];
/** The longest thing that is told apart in an output: a time, a duration, an id. */
const lookAheadChars = 100;
/** How far the last scan came. Kept here: an object for each output, to give two things back, costs as much as the scan. */
let scannedChars = 0;

function scan(text: string, isError: boolean, saidMax: number): string {
  // Kept in this one function: numbers that a closure shares are slow.
  let low = lowStart;
  let high = highStart;
  const end = codesOf(text);
  let at = 0;
  let blank = false;
  let begun = false;
  /** The character before belongs to a word. */
  let inWord = false;
  /** In a temp path, which is left out to its end. */
  let inTemp = false;
  /** How much more of an id is left out. */
  let idCharsLeft = 0;
  let said = 0;
  /** Where the word began, and what was said until then: an id may begin with letters. */
  let wordAt = 0;
  /** The word that is known to be no id: looked through for every number in it, a long one would take for ever. */
  let noIdAt = -1;
  let wordSaid = 0;
  let wordLow = low;
  let wordHigh = high;
  while (at < end && said < saidMax) {
    const code = codes[at] as number;
    const kind = code < 128 ? (kinds[code] as number) : isWideBlank(code) ? kindBlank : kindOther;
    if (kind === kindBlank) {
      blank = begun;
      inWord = false;
      inTemp = false;
      idCharsLeft = 0;
      at += 1;
      continue;
    }
    if (blank) {
      low = Math.imul(low ^ 32, lowFactor);
      high = Math.imul(high ^ 32, highFactor);
      blank = false;
    }
    begun = true;
    if (inTemp && kind === kindOther && !isPathMark(code)) inTemp = false;
    if (idCharsLeft > 0 && !isWord(kind)) idCharsLeft = 0;
    if (!inWord) {
      wordAt = at;
      wordSaid = said;
      wordLow = low;
      wordHigh = high;
    }
    if (!inTemp && idCharsLeft === 0) {
      if (kind === kindLetter || (kind === kindIdStart && (inWord || !mayBeId(at, code)))) {
        // To the end of the letters: a look at each of them by itself would take twice as long.
        let letter = code;
        said -= at;
        do {
          low = Math.imul(low ^ letter, lowFactor);
          high = Math.imul(high ^ letter, highFactor);
          at += 1;
          letter = codes[at] as number;
        } while (letter < 128 && isLetter[letter] === 1);
        said += at;
        inWord = true;
        continue;
      }
      if (kind === kindOther) {
        low = Math.imul(low ^ code, lowFactor);
        high = Math.imul(high ^ code, highFactor);
        inWord = false;
        said += 1;
        at += 1;
        continue;
      }
    }
    // What stands here is said as it is from `plain` to `plainEnd`, and then as `mark`.
    let plain = at;
    let plainEnd = at + 1;
    let mark = '';
    let next = at + 1;
    if (kind === kindDigit) {
      const runEnd = digitsEnd(at);
      plainEnd = runEnd;
      next = runEnd;
      const dateAt = codes[runEnd] === minus && runEnd - at >= 4 ? runEnd - 4 : -1;
      const dateEnd = dateAt < 0 ? -1 : matchEnd(dateTime, text, dateAt);
      const mayBe = dateEnd < 0 && !inTemp && idCharsLeft === 0 && wordAt !== noIdAt;
      const ownEnd = mayBe ? hexIdEnd(wordAt, at, runEnd) : -1;
      if (mayBe && ownEnd < 0) noIdAt = wordAt;
      if (ownEnd >= 0) {
        low = wordLow;
        high = wordHigh;
        said = wordSaid;
        plainEnd = at;
        mark = '<id>';
        next = ownEnd;
      } else if (dateEnd >= 0) {
        plainEnd = dateAt;
        mark = '<time>';
        next = dateEnd;
      } else if (!inWord) {
        const timeEnd = clockEnd(text, at, runEnd);
        const tookEnd = timeEnd < 0 ? durationEnd(text, runEnd) : -1;
        const hidden = inTemp || idCharsLeft > 0;
        const addressEnd = timeEnd < 0 && tookEnd < 0 && !hidden ? hexEnd(text, at, runEnd) : -1;
        if (timeEnd >= 0 || tookEnd >= 0 || addressEnd >= 0) {
          plainEnd = at;
          mark = timeEnd >= 0 ? '<time>' : tookEnd >= 0 ? '<took>' : '<address>';
          next = Math.max(timeEnd, tookEnd, addressEnd);
        }
      }
      plain = inTemp ? plainEnd : Math.min(plainEnd, at + idCharsLeft);
      if (!inTemp) idCharsLeft -= plain - at;
      if (isError && plain < plainEnd) {
        low = Math.imul(low ^ numberMark, lowFactor);
        high = Math.imul(high ^ numberMark, highFactor);
        said += 1;
        plain = plainEnd;
      }
      inWord = mark === '';
      if (mark !== '') {
        inTemp = false;
        idCharsLeft = 0;
      }
    } else if (inTemp || idCharsLeft > 0) {
      if (!inTemp) idCharsLeft -= 1;
      plain = plainEnd;
      inWord = isWord(kind);
    } else if (kind === kindSlash) {
      inWord = false;
      if (tempStarts(text, at)) {
        plain = plainEnd;
        mark = '<temp>';
        next = at + tempFolder.length;
        inTemp = true;
      }
    } else {
      const idAt = idStart(text, at);
      inWord = idAt < 0;
      if (idAt >= 0) {
        plain = plainEnd;
        mark = '<id>';
        next = idAt;
        idCharsLeft = idCharsMax;
      }
    }
    said += plainEnd - plain + mark.length;
    for (; plain < plainEnd; plain += 1) {
      const own = codes[plain] as number;
      low = Math.imul(low ^ own, lowFactor);
      high = Math.imul(high ^ own, highFactor);
    }
    for (let index = 0; index < mark.length; index += 1) {
      const own = mark.charCodeAt(index);
      low = Math.imul(low ^ own, lowFactor);
      high = Math.imul(high ^ own, highFactor);
    }
    at = next;
  }
  scannedChars = at;
  // What was cut within a word may be an id.
  if (at < end && inWord) return digestOf(wordLow, wordHigh);
  return digestOf(low, high);
}

/** The text as numbers, with a zero after its end: asking a string for one character after the other takes twice as long. */
const codes = new Uint16Array(codesMax + 1);
const codeBytes = Buffer.from(codes.buffer);

function codesOf(text: string): number {
  const end = codeBytes.write(text, 0, codesMax * 2, 'utf16le') / 2;
  codes[end] = 0;
  return end;
}

const kindOther = 0;
const kindBlank = 1;
const kindSlash = 2;
/** From here on the characters of words. */
const kindLetter = 3;
/** Letters that "pid", "process", "chunk" and "id" begin with. */
const kindIdStart = 4;
const kindDigit = 5;

const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return kindBlank;
  if (/\d/.test(character)) return kindDigit;
  if (/[pci]/i.test(character)) return kindIdStart;
  if (/\w/.test(character)) return kindLetter;
  return character === '/' ? kindSlash : kindOther;
});

const isLetter = kinds.map((kind) => (kind === kindLetter || kind === kindIdStart ? 1 : 0));

function isWord(kind: number): boolean {
  return kind >= kindLetter;
}

const small = { c: 99, d: 100, h: 104, i: 105, m: 109, n: 110, r: 114, s: 115, t: 116, x: 120 } as const;
const micro = 0xb5;
const numberMark = 35;
const plus = 43;
const minus = 45;
const dot = 46;
const colon = 58;

function isPathMark(code: number): boolean {
  return code === dot || code === minus || code === plus;
}

function digitsEnd(from: number): number {
  let at = from + 1;
  while (isDigit(codes[at] as number)) at += 1;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

const dateTime = /\d{4}-\d\d-\d\d(?:T|\s+)\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/y;
const clockTime = /\d\d:\d\d:\d\d(?:\.\d+)?\b/y;
const address = /0x[\da-f]+\b/iy;
const idWords = /(?:pid|process|chunk|id)[\s:=#]+(?=\w)/iy;

function matchEnd(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : -1;
}

/** Each first looks at the next character: a regular expression for every number would cost more than all the rest. */
function clockEnd(text: string, at: number, runEnd: number): number {
  return runEnd - at === 2 && codes[runEnd] === colon ? matchEnd(clockTime, text, at) : -1;
}

function durationEnd(text: string, runEnd: number): number {
  let at = runEnd;
  if (codes[at] === dot) {
    if (!isDigit(codes[at + 1] as number)) return -1;
    at = digitsEnd(at + 1);
  }
  let code = codes[at] as number;
  while (code < 128 ? kinds[code] === kindBlank : isWideBlank(code)) {
    at += 1;
    code = codes[at] as number;
  }
  let end = at + 1;
  if (code === small.s) end = text.startsWith('seconds', at) ? at + 7 : text.startsWith('sec', at) ? at + 3 : end;
  else if ((code === small.m || code === small.n || code === micro) && codes[end] === small.s) end += 1;
  else return -1;
  const after = codes[end] as number;
  return after < 128 && isWord(kinds[after] as number) ? -1 : end;
}

function hexEnd(text: string, at: number, runEnd: number): number {
  return runEnd - at === 1 && ((codes[runEnd] as number) | 32) === small.x ? matchEnd(address, text, at) : -1;
}

const hexIdCharsMin = 8;

/** The end of a hash or a UUID: hex digits of both kinds, at least eight, and what is joined to them by dashes; -1: none. */
function hexIdEnd(wordAt: number, at: number, runEnd: number): number {
  // A plain number is none, and most are plain.
  if (wordAt === at && !isHexLetter(codes[runEnd] as number)) return -1;
  for (let before = wordAt; before < at; before += 1) if (!isHex(codes[before] as number)) return -1;
  let end = hexWordEnd(runEnd);
  if (end < wordAt + hexIdCharsMin || !hasHexLetter(wordAt, end)) return -1;
  while (codes[end] === minus && hexWordEnd(end + 1) > end + 4) end = hexWordEnd(end + 1);
  return end;
}

/** -1: the word goes on with other characters. */
function hexWordEnd(from: number): number {
  let at = from;
  while (isHex(codes[at] as number)) at += 1;
  const after = codes[at] as number;
  return after < 128 && isWord(kinds[after] as number) ? -1 : at;
}

function hasHexLetter(from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (isHexLetter(codes[at] as number)) return true;
  return false;
}

function isHex(code: number): boolean {
  return isDigit(code) || isHexLetter(code);
}

function isHexLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 102;
}

const tempFolder = '/tmp/';

function tempStarts(text: string, at: number): boolean {
  if (codes[at + 1] !== small.t || !text.startsWith(tempFolder, at)) return false;
  const next = at + tempFolder.length;
  const code = codes[next] as number;
  if (code >= 128) return false;
  const kind = kinds[code] as number;
  return kind === kindSlash || isPathMark(code) || (isWord(kind) && !timeStarts(text, next));
}

const idCharsMax = 40;

function mayBeId(at: number, code: number): boolean {
  const first = code | 32;
  const next = (codes[at + 1] as number) | 32;
  if (first === small.i) return next === small.d;
  return first === small.c ? next === small.h : next === small.i || next === small.r;
}

/** Where the id itself begins; -1: it is none. */
function idStart(text: string, at: number): number {
  const end = matchEnd(idWords, text, at);
  return end < 0 || timeStarts(text, end) ? -1 : end;
}

/** A number that is a time is no part of a name. */
function timeStarts(text: string, at: number): boolean {
  if (!isDigit(codes[at] as number)) return false;
  const runEnd = digitsEnd(at);
  return (
    (runEnd - at === 4 && matchEnd(dateTime, text, at) >= 0) ||
    clockEnd(text, at, runEnd) >= 0 ||
    durationEnd(text, runEnd) >= 0
  );
}

/**
 * The compiler takes what was never done for what never will be, and compiles the whole scan anew each time it was wrong.
 * So everything is done once before anything counts.
 */
const everything =
  'at 2026-03-01T10:11:12Z 10:11:12.5 in 3.2 ms, 5 seconds\u2003or 7 sec: /tmp/a-b/c.d+1/2 pid 4711 chunk: ab12\u2192x process #9 0x1fA id=12:30:01 2026-3 p1 /x 12x\u00a0é ab12cd34 4be1f09c-12ab-zz 00ffx a1 cut12';
for (const isError of [true, false]) scan(everything, isError, Number.POSITIVE_INFINITY);
