import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readOwnBytes } from '../act/own-text.ts';
import { type Home, runningDaemon } from '../home/home.ts';
import { ownHost } from '../home/host-id.ts';
import { withoutForgotten } from '../model/forgotten.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { Store } from '../model/store.ts';
import { redactTables, whyKept } from '../record/redact.ts';
import { databaseUrl, withDatabase } from '../rows/database.ts';
import { ownCaller } from './asker.ts';
import { askControl } from './control.ts';

/** Taking out what slipped through: of the tables, of our own files, and of a running daemon's memory. */

const secretCharsMin = 6;
export const secretBytesMax = 16 * 1024;
const mark = '[redacted]';
const daemonMs = 15_000;
const depthMax = 4;

export interface Redacted {
  replaced: Record<string, number>;
  /** Files of ours it was taken out of, and those that hold it and stay as they are. */
  files: string[];
  left: string[];
}

export type RedactFailure = 'refused' | 'unavailable' | 'daemon';

/** Why this cannot be taken out; null: it can. */
export function whyNoSecret(secret: string): string | null {
  if (secret === '') return 'nothing came on standard input';
  if (secret.includes('\u0000')) return 'it holds a NUL, which no stored text has';
  if (!secret.isWellFormed()) return 'it is not valid UTF-8';
  if ([...secret].length < secretCharsMin)
    return `it is shorter than ${secretCharsMin} characters: too many other texts would hold it too`;
  return secret.trim() === '' ? 'it holds nothing but blanks' : null;
}

/** As it is, and as it stands within JSON, within JSON in JSON, within an address and in texts made printable. */
function formsOf(secret: string): string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const all = [
    ...[inJson(inJson(secret)), inJson(secret), secret.replaceAll('/', '\\/')],
    ...[encodeURIComponent(secret), encodeURI(secret), secret, secret.replaceAll('\n', '\\n')],
  ];
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

export async function redactEverywhere(
  secret: string,
  { home, environment, progress }: { home: Home; environment: NodeJS.ProcessEnv; progress: (line: string) => void },
): Promise<Result<Redacted, RedactFailure>> {
  const forms = formsOf(secret);
  const tables = await redactDatabase(home, environment, forms, progress);
  return tables.ok ? ok({ replaced: tables.value, ...redactFiles(home, forms) }) : tables;
}

async function redactDatabase(
  home: Home,
  environment: NodeJS.ProcessEnv,
  forms: readonly string[],
  progress: (line: string) => void,
): Promise<Result<Record<string, number>, RedactFailure>> {
  if (!databaseUrl(home, environment).ok) return ok({});
  return withDatabase<Record<string, number>, RedactFailure>(home, environment, { progress }, async ({ url }) => {
    const forgotten = await forgetFirst(home, url, forms);
    return forgotten.ok ? redactTables(url, forms, { host: ownHost(environment), by: ownCaller() }) : forgotten;
  });
}

/** The daemon forgets before the tables are gone through, or it would write the secret again; what is refused it keeps. */
async function forgetFirst(home: Home, url: string, forms: readonly string[]): Promise<Result<void, RedactFailure>> {
  const why = await whyKept(url, forms);
  if (!why.ok) return why;
  if (why.value !== null) return fail('refused', why.value);
  const daemon = runningDaemon(home);
  if (daemon === null) return ok(undefined);
  const told = await askControl(daemon.sockets.control, { ask: 'forget', forms: [...forms] }, daemonMs);
  if (told.ok) return ok(undefined);
  return fail(
    'daemon',
    `the daemon did not take it: ${told.message}`,
    told.reason === 'not-allowed' ? told.fix : 'stop it with `watchkeeper down`',
  );
}

/**
 * In the daemon: the texts that are stored from now on are without what was forgotten. What is given by itself is an id, a
 * name or a word of ours.
 */
export function forgetful(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const own = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      return typeof own === 'function' ? (...args: unknown[]) => own.apply(target, args.map(withoutForgotten)) : own;
    },
  });
}

/** What is written for people and for ourselves; the rest of the data directory is only looked through. */
const mayChange = /^(?:daemon\.log(?:\.1)?|(?:inbox|spool|words)\/.*)$/;
const notOurs = /^pg\/(?!data\/log(?:\/|$))./;

function redactFiles(home: Home, forms: readonly string[]): { files: string[]; left: string[] } {
  const files: string[] = [];
  const left: string[] = [];
  for (const name of filesBelow(home.dir, '', depthMax)) {
    const file = path.join(home.dir, name);
    const bytes = readFile(file);
    if (bytes === null || !forms.some((form) => bytes.includes(form))) continue;
    if (mayChange.test(name) && replaceIn(file, bytes, forms)) files.push(file);
    else left.push(file);
  }
  return { files, left };
}

function filesBelow(root: string, below: string, depth: number): string[] {
  if (depth === 0) return [];
  try {
    return readdirSync(path.join(root, below), { withFileTypes: true }).flatMap((entry) => {
      const name = path.posix.join(below, entry.name);
      if (entry.isDirectory())
        return name === 'pg/data' || !notOurs.test(name) ? filesBelow(root, name, depth - 1) : [];
      return entry.isFile() && !notOurs.test(name) ? [name] : [];
    });
  } catch {
    return [];
  }
}

function readFile(file: string): Buffer | null {
  try {
    return readOwnBytes(file);
  } catch {
    return null;
  }
}

/** In place: the daemon goes on writing to the same file. */
function replaceIn(file: string, bytes: Buffer, forms: readonly string[]): boolean {
  try {
    const text = bytes.toString('latin1');
    const asLatin1 = (form: string) => Buffer.from(form).toString('latin1');
    const clean = forms.reduce((rest, form) => rest.replaceAll(asLatin1(form), mark), text);
    writeFileSync(file, Buffer.from(clean, 'latin1'));
    return true;
  } catch {
    return false;
  }
}
