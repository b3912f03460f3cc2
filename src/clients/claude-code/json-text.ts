import type { Json } from '../../model/event.ts';

/**
 * JSON as text that people wrote: finds where things stand, and adds, replaces or takes out one thing at a time with
 * everything else left as it is. Reads also what strict JSON forbids, comments and commas before a closing bracket:
 * editors allow them, and taking something out again must not need a clean file.
 */
export type JsonPath = readonly (string | number)[];

interface Part {
  key: string | null;
  /** Where the last thing before it ends, be it a bracket, a comma or a comment. */
  before: number;
  start: number;
  end: number;
  /** Where the comma after it ends; null without one. */
  commaEnd: number | null;
  node: JsonNode;
}

export interface JsonNode {
  kind: 'object' | 'array' | 'string' | 'other';
  start: number;
  end: number;
  /** Of an object or array. */
  parts: Part[];
  /** Where the last thing before the closing bracket ends. */
  innerEnd: number;
  /** Of anything else. */
  value: string | number | boolean | null;
}

export type ReadJson =
  | { ok: true; root: JsonNode | null; lenient: 'comments' | 'trailing commas' | null }
  | { ok: false; line: number; what: string };

const depthMax = 200;

class Unreadable extends Error {
  readonly at: number;
  constructor(at: number, what: string) {
    super(what);
    this.at = at;
  }
}

/** `root` is null for a file that holds nothing at all. */
export function readJson(text: string): ReadJson {
  const reader = new Reader(text);
  try {
    const root = reader.document();
    return { ok: true, root, lenient: reader.lenient };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { ok: false, line: text.slice(0, error.at).split('\n').length, what: error.message };
  }
}

class Reader {
  readonly #text: string;
  #at = 0;
  /** Where the last token or comment ended. */
  #lastEnd = 0;
  lenient: 'comments' | 'trailing commas' | null = null;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith('\ufeff')) this.#at = this.#lastEnd = 1;
  }

  document(): JsonNode | null {
    this.#skip();
    if (this.#at === this.#text.length) return null;
    const root = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) throw new Unreadable(this.#at, 'something stands after the end');
    return root;
  }

  #value(depth: number): JsonNode {
    if (depth > depthMax) throw new Unreadable(this.#at, `it is nested deeper than ${depthMax} levels`);
    const character = this.#text[this.#at];
    if (character === '{') return this.#container('object', '}', depth);
    if (character === '[') return this.#container('array', ']', depth);
    if (character === '"') return this.#string();
    const word = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text)?.[0];
    if (found === undefined) throw new Unreadable(this.#at, 'a value is missing or misspelt');
    return this.#leaf('other', found.length, JSON.parse(found));
  }

  #container(kind: 'object' | 'array', closer: string, depth: number): JsonNode {
    const start = this.#at;
    const parts: Part[] = [];
    this.#advance(1);
    for (;;) {
      const before = this.#skip();
      if (this.#text[this.#at] === closer) {
        if (parts.at(-1)?.commaEnd) this.lenient ??= 'trailing commas';
        this.#advance(1);
        return { kind, start, end: this.#at, parts, innerEnd: before, value: null };
      }
      if (this.#at === this.#text.length) throw new Unreadable(start, 'a bracket is never closed');
      const last = parts.at(-1);
      if (last !== undefined && last.commaEnd === null) throw new Unreadable(this.#at, 'a comma is missing');
      parts.push(this.#part(kind, before, depth));
    }
  }

  #part(kind: 'object' | 'array', before: number, depth: number): Part {
    const start = this.#at;
    let key: string | null = null;
    if (kind === 'object') {
      if (this.#text[start] !== '"') throw new Unreadable(start, 'a key in double quotes is missing');
      key = String(this.#string().value);
      this.#skip();
      if (this.#text[this.#at] !== ':') throw new Unreadable(this.#at, 'a colon is missing');
      this.#advance(1);
      this.#skip();
    }
    const node = this.#value(depth + 1);
    this.#skip();
    const comma = this.#text[this.#at] === ',';
    if (comma) this.#advance(1);
    return { key, before, start, end: node.end, commaEnd: comma ? this.#at : null, node };
  }

  #string(): JsonNode {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    const found = this.#text.slice(this.#at, end + 1);
    let value: string;
    try {
      value = JSON.parse(found) as string;
    } catch {
      throw new Unreadable(this.#at, 'a text is not closed or holds a character it may not');
    }
    return this.#leaf('string', found.length, value);
  }

  #leaf(kind: 'string' | 'other', length: number, value: JsonNode['value']): JsonNode {
    const start = this.#at;
    this.#advance(length);
    return { kind, start, end: this.#at, parts: [], innerEnd: this.#at, value };
  }

  #advance(length: number): void {
    this.#at += length;
    this.#lastEnd = this.#at;
  }

  /** Over blanks and comments; where the last thing before ended. */
  #skip(): number {
    for (;;) {
      while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
      const opener = this.#text.slice(this.#at, this.#at + 2);
      if (opener !== '//' && opener !== '/*') return this.#lastEnd;
      this.lenient = 'comments';
      const closer = opener === '//' ? '\n' : '*/';
      const found = this.#text.indexOf(closer, this.#at + 2);
      if (found === -1 && opener === '/*') throw new Unreadable(this.#at, 'a comment is never closed');
      const end = found === -1 ? this.#text.length : opener === '//' ? found : found + 2;
      this.#advance(end - this.#at - (this.#text[end - 1] === '\r' ? 1 : 0));
    }
  }
}

/** Of a key that stands twice the last counts, as it does for the client. */
export function nodeAt(root: JsonNode | null, path: JsonPath): JsonNode | null {
  let node = root;
  for (const step of path) node = partAt(node, step)?.node ?? null;
  return node;
}

function partAt(node: JsonNode | null, step: string | number): Part | undefined {
  if (node === null) return undefined;
  return typeof step === 'number' ? node.parts[step] : node.parts.findLast((part) => part.key === step);
}

/** Adds as the last of an object (with a key) or an array (without). `container` is a path that exists. */
export function add(text: string, container: JsonPath, key: string | null, value: Json): string {
  const root = rootOf(text);
  const node = nodeAt(root, container);
  if (root === null || node === null) return text;
  const style = styleOf(text, root);
  const first = node.parts[0];
  const last = node.parts.at(-1);
  const entry = `${key === null ? '' : `${JSON.stringify(key)}:${style.gap}`}${compact(value, style.gap)}`;
  if (first === undefined || last === undefined) {
    if (style.oneLine) return splice(text, node.innerEnd, node.end - 1, entry);
    const base = lineIndent(text, node.start);
    const lines = `${style.newline}${base}${style.unit}${entry}${style.newline}${base}`;
    return splice(text, node.innerEnd, node.end - 1, lines);
  }
  const commented = text.slice(last.commaEnd ?? last.end, node.innerEnd).trim() !== '';
  const indent = ownLineIndent(text, first.start) ?? (commented ? lineIndent(text, node.start) + style.unit : null);
  const blank = indent === null ? style.gap : style.newline + indent;
  // What a comment says about the last one stays beside it.
  if (last.commaEnd !== null) return splice(text, node.innerEnd, node.innerEnd, `${blank}${entry},`);
  return splice(splice(text, node.innerEnd, node.innerEnd, blank + entry), last.end, last.end, ',');
}

export function replace(text: string, path: JsonPath, value: Json): string {
  const node = nodeAt(rootOf(text), path);
  return node === null ? text : splice(text, node.start, node.end, compact(value, ' '));
}

export function remove(text: string, path: JsonPath): string {
  const parent = nodeAt(rootOf(text), path.slice(0, -1));
  const step = path.at(-1);
  if (parent === null || step === undefined) return text;
  const part = partAt(parent, step);
  if (part === undefined) return text;
  const index = parent.parts.indexOf(part);
  const previous = parent.parts[index - 1];
  if (parent.parts.length === 1 && part.before === parent.start + 1 && parent.innerEnd === (part.commaEnd ?? part.end))
    return splice(text, parent.start + 1, parent.end - 1, '');
  const end = part.commaEnd ?? part.end;
  const afterToken = part.before === (previous === undefined ? parent.start + 1 : (previous.commaEnd ?? previous.end));
  // A comment before it may go on to the end of its line, so what follows must not move up there.
  const from = afterToken || /^[ \t]*\r?\n/.test(text.slice(end)) ? part.before : part.start;
  const without = splice(text, from, end, '');
  const needless = part.commaEnd === null && previous !== undefined && previous.commaEnd !== null;
  return needless ? splice(without, (previous.commaEnd ?? 0) - 1, previous.commaEnd ?? 0, '') : without;
}

function rootOf(text: string): JsonNode | null {
  const read = readJson(text);
  return read.ok ? read.root : null;
}

interface Style {
  newline: string;
  unit: string;
  /** Between key and value, and after a comma on one line. */
  gap: string;
  oneLine: boolean;
}

function styleOf(text: string, root: JsonNode): Style {
  const first = root.parts[0];
  const indent = first === undefined ? null : ownLineIndent(text, first.start);
  const oneLine = first !== undefined && !text.slice(root.start, root.end).includes('\n');
  return {
    newline: text.includes('\r\n') ? '\r\n' : '\n',
    unit: indent || '  ',
    gap: oneLine && !/"\s*:\s/.test(text) ? '' : ' ',
    oneLine,
  };
}

/** One line, with blanks or without. */
function compact(value: Json, gap: string): string {
  if (gap === '') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => compact(item, gap)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${compact(item, gap)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** null: something else stands before it on its line. */
function ownLineIndent(text: string, at: number): string | null {
  const newline = text.lastIndexOf('\n', at - 1);
  const line = text.slice(newline + 1, at);
  return newline !== -1 && /^[ \t]*$/.test(line) ? line : null;
}

function splice(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}
