import { createRequire } from 'node:module';
import type { CST, LineCounter, ParsedNode } from 'yaml';
import { excerpt } from './excerpt.ts';

export type KeyPath = readonly (string | number)[];

interface Place {
  line: number;
  column: number;
}

export interface YamlProblem extends Place {
  key: string | null;
  text: string;
}

/** A parsed file: plain values, and where each of them stands. */
export interface YamlValue {
  value: unknown;
  /** Where the value stands, or the nearest thing around it that does. */
  valueAt(path: KeyPath): Place;
  /** Where the key stands, or the nearest thing around it that does. */
  keyAt(path: KeyPath): Place;
}

// Node dies without an exception when the YAML composer recurses too deep, and takes seconds for a million tokens.
const depthMax = 32;
const tokensMax = 100_000;

/** Loaded when there is a file to read: most commands have none, and it was a third of what they took to start. */
const library = (): typeof import('yaml') => createRequire(import.meta.url)('yaml');

export function parseYaml(text: string): { ok: true; value: YamlValue } | { ok: false; problems: YamlProblem[] } {
  const { Composer, isMap, isScalar, isSeq, LineCounter } = library();
  const lines = new LineCounter();
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const stop = (offset: number, what: string) => ({
    ok: false as const,
    problems: [{ ...placeOf(offset), key: null, text: what }],
  });

  const tokens = tokenize(text, lines);
  if (tokens === null) return stop(0, `has more than ${tokensMax} YAML tokens: a smaller file is needed`);
  const tooDeep = findTooDeep(tokens);
  if (tooDeep !== null) return stop(tooDeep, `is nested deeper than ${depthMax} levels: no key needs that`);

  const composer = new Composer({
    prettyErrors: false,
    stringKeys: true,
    // The library compares every key with every other; the walk below needs one look at each.
    uniqueKeys: false,
    resolveKnownTags: false,
  });
  const documents = [...composer.compose(tokens, true, text.length)];
  const problems = documents
    .flatMap((document) => [...document.errors, ...document.warnings])
    .map((error) => ({ ...placeOf(error.pos[0]), key: null, text: `not valid YAML: ${syntaxText(error)}` }));
  const second = documents[1];
  if (second !== undefined) {
    problems.push({ ...placeOf(second.range[0]), key: null, text: 'a second YAML document: one file holds one' });
  }
  if (problems.length > 0) return { ok: false, problems };

  const values = new Map<string, number>();
  const keys = new Map<string, number>();
  const found: YamlProblem[] = [];
  const value = walk(documents[0]?.contents ?? null, []);
  if (found.length > 0) return { ok: false, problems: found };

  const nearest = (path: KeyPath, indexes: Map<string, number>[]): Place => {
    for (let length = path.length; length >= 0; length -= 1) {
      const id = JSON.stringify(path.slice(0, length));
      for (const index of indexes) {
        const offset = index.get(id);
        if (offset !== undefined) return placeOf(offset);
      }
    }
    return { line: 1, column: 1 };
  };
  return {
    ok: true,
    value: {
      value,
      valueAt: (path) => nearest(path, [values, keys]),
      keyAt: (path) => nearest(path, [keys, values]),
    },
  };

  function walk(node: ParsedNode | null, path: KeyPath): unknown {
    if (node === null) return null;
    const id = JSON.stringify(path);
    // A value left empty has no place of its own; its key has.
    if (node.range[1] > node.range[0]) values.set(id, node.range[0]);
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item, index) => walk(item as ParsedNode, [...path, index]));
    if (isMap(node)) {
      const result: Record<string, unknown> = Object.create(null);
      for (const pair of node.items) {
        const keyNode = pair.key as ParsedNode;
        if (!isScalar(keyNode)) {
          refuse(keyNode, path, 'a key has to be plain text');
          continue;
        }
        const key = String(keyNode.value);
        const keyPath = [...path, key];
        if (Object.hasOwn(result, key)) {
          refuse(keyNode, keyPath, 'given twice: a key may stand once');
          continue;
        }
        keys.set(JSON.stringify(keyPath), keyNode.range[0]);
        result[key] = walk(pair.value as ParsedNode | null, keyPath);
      }
      return result;
    }
    refuse(node, path, 'an alias (*) is not supported: write the value out');
    return null;
  }

  function refuse(node: ParsedNode, path: KeyPath, what: string): void {
    found.push({ ...placeOf(node.range[0]), key: path.length === 0 ? null : formatPath(path), text: what });
  }
}

/** `agents[0].match`, printable. */
export function formatPath(path: KeyPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return index === 0 ? excerpt(part) : `.${excerpt(part)}`;
    })
    .join('');
}

function tokenize(text: string, lines: LineCounter): CST.Token[] | null {
  const { Lexer, Parser } = library();
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let count = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > tokensMax) return null;
    tokens.push(...parser.next(lexeme));
  }
  tokens.push(...parser.end());
  return tokens;
}

/** Level by level, since recursion is what this guards against. Returns the offset of the first thing too deep. */
function findTooDeep(tokens: CST.Token[]): number | null {
  let level: CST.Token[] = tokens;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return level[0]?.offset ?? 0;
    const next: CST.Token[] = [];
    for (const token of level) {
      if (token.type === 'document') {
        if (token.value !== undefined) next.push(token.value);
      } else if ('items' in token) {
        for (const item of token.items) {
          if (item.key !== undefined && item.key !== null) next.push(item.key);
          if (item.value !== undefined) next.push(item.value);
        }
      }
    }
    level = next;
  }
  return null;
}

function syntaxText(error: { code: string; message: string }): string {
  if (error.code === 'TAB_AS_INDENT') return 'a tab as indentation: use spaces';
  if (error.code === 'NON_STRING_KEY') return 'a key has to be plain text';
  return excerpt(error.message.split('\n')[0] ?? error.message);
}
