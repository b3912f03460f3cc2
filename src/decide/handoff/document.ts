import path from 'node:path';
import { isPlainWord, quoted } from '../../model/evidence.ts';
import { documentBytesMax, type HandoffLook } from '../../model/handoff-file.ts';
import {
  type Filled,
  fillTemplate,
  type SlotValues,
  slotText,
  type TemplateName,
  type TemplateOverrides,
} from '../templates.ts';
import { type SectionName, type Sections, sectionNames, sectionsOf } from './sections.ts';

/** What a handoff document must hold before a context is cleared on the strength of it. */
export interface DocumentExpected {
  /** Of the request it answers: proves that it is not another agent's, nor of another day. */
  nonce: string;
  /** The ids of the background work that runs. */
  background: readonly string[];
  /** Whether the project is a git repository: else there is no HEAD to name. */
  hasGit: boolean;
}

type DocumentFault = 'size' | 'not-text' | 'nonce' | 'missing' | 'empty' | 'background' | 'head' | 'file' | 'stale';

export interface DocumentProblem {
  what: DocumentFault;
  /** Completes "not good yet: …"; own words, save for the ids of background work in quotes. */
  words: string;
}

const bytesMin = 200;
const idsNamedMax = 5;
const idsRunningMax = 12;

/** All that is wrong with it; none: it can be relied on. */
export function verifyDocument(text: string, { nonce, background, hasGit }: DocumentExpected): DocumentProblem[] {
  // UTF-8 has one to three bytes for each of JavaScript's characters: no need to count those of a monster.
  const bytes = text.length > documentBytesMax ? text.length : new TextEncoder().encode(text).length;
  if (bytes > documentBytesMax) return [{ what: 'size', words: `it is larger than ${documentBytesMax / 1024} KiB` }];
  if (text.includes('\0')) return [{ what: 'not-text', words: 'it is not a text' }];
  const problems: DocumentProblem[] = [];
  if (bytes < bytesMin) problems.push({ what: 'size', words: `it is shorter than ${bytesMin} bytes` });
  if (!holdsWord(text, nonce)) problems.push({ what: 'nonce', words: `the nonce ${nonce} is not in it` });
  const sections = sectionsOf(text);
  for (const name of sectionNames) {
    const problem = sectionProblem(name, sections.get(name));
    if (problem !== null) problems.push(problem);
  }
  return [...problems, ...headProblems(sections, hasGit), ...backgroundProblems(sections, background)];
}

/** The commit the document names as HEAD: 7 to 40 (or 64) hexadecimal digits. */
export function headNamed(text: string): string | null {
  if (text.length > documentBytesMax) return null;
  return headIn(sectionsOf(text).get('Git HEAD') ?? []);
}

/** A file that no other handoff has: `handoff-YYYY-MM-DD-HH-MM-SS.md` in the project, or in a directory of its own. */
export function handoffFile(dir: string, projectDir: string, atMs: number, taken: ReadonlySet<string>): string {
  for (let second = 0; ; second += 1) {
    const time = new Date(atMs + second * 1000).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-');
    const file = path.resolve(projectDir, dir, `handoff-${time}.md`);
    if (!taken.has(file)) return file;
  }
}

export interface Request {
  file: string;
  projectDir: string;
  nonce: string;
  /** Completes "please write a handoff now (…)". */
  why: string;
  /** The ids of the background work that runs. */
  background: readonly string[];
}

/** One line that asks for the document. */
export function requestText({ why, nonce, background, ...place }: Request, words: TemplateOverrides): Filled {
  return filledFor(place, words, 'handoff', { why, nonce, background: runningWords(background) });
}

/** One line that sends it back, with all that is wrong. */
export function askAgainText(
  problems: readonly DocumentProblem[],
  { nonce, ...place }: Pick<Request, 'file' | 'projectDir' | 'nonce'>,
  words: TemplateOverrides,
): Filled {
  const said = problems.map((problem) => problem.words).join(', ');
  return filledFor(place, words, 'handoff-again', { problems: said, nonce });
}

/** One line, the first in the fresh context. */
export function resumeText(place: Pick<Request, 'file' | 'projectDir'>, words: TemplateOverrides): Filled {
  return filledFor(place, words, 'handoff-resume', {});
}

function filledFor(
  place: Pick<Request, 'file' | 'projectDir'>,
  words: TemplateOverrides,
  template: TemplateName,
  slots: SlotValues,
): Filled {
  return fillTemplate(template, { ...slots, file: sayablePath(place) }, words);
}

/** By its full path, for an agent moves about; by its place in the project where the full one cannot be typed. */
export function sayablePath({ file, projectDir }: Pick<Request, 'file' | 'projectDir'>): string {
  const inside = path.relative(projectDir, file);
  return slotText('file', file).ok || inside.startsWith('..') ? file : inside;
}

/** The ids of running work, as they may be typed. */
export function runningWords(ids: readonly string[]): string {
  return ids.length === 0 ? 'none' : idWords(ids, idsRunningMax);
}

function idWords(ids: readonly string[], namedMax: number): string {
  const named = ids.filter(isPlainWord).slice(0, namedMax);
  const left = ids.length - named.length;
  const more = left === 0 ? [] : [named.length === 0 ? `${left} of your own` : `and ${left} more`];
  return [named.map(quoted).join(', '), ...more].filter((part) => part !== '').join(' ');
}

/** What a look at the file found instead of a document, said as what is wrong with it. */
export const fileProblems = {
  missing: { what: 'file', words: 'the file is not there' },
  link: { what: 'file', words: 'the file or a directory above it is a link' },
  'not-regular': { what: 'file', words: 'it is not a regular file' },
  outside: { what: 'file', words: 'it is not where it was asked for' },
  old: { what: 'file', words: 'it is older than the request' },
  empty: { what: 'size', words: 'it is empty' },
  huge: { what: 'size', words: `it is larger than ${documentBytesMax / 1024} KiB` },
  changing: { what: 'file', words: 'it is still being written' },
  unreadable: { what: 'file', words: 'it cannot be read' },
} as const satisfies Record<Exclude<HandoffLook['kind'], 'ok'>, DocumentProblem>;

/** Written, but the work went on after it. */
export const staleProblem: DocumentProblem = { what: 'stale', words: 'it is older than your last work' };

/** Here "none" is an answer. */
const mayBeNone: readonly SectionName[] = ['Decisions', 'Open files', 'Background work', 'Git HEAD'];

const placeholders = new Set([
  ...['todo', 'to do', 'tbd', 'tba', 'tbc', 'fixme', 'xxx', 'wip', 'placeholder', 'lorem ipsum', 'insert here'],
  ...['fill in', 'fill me in', 'to be filled', 'to be filled in', 'to be done', 'to be determined', 'to be written'],
  ...['to be decided', 'to be added', 'coming soon', 'write here', 'your text here', 'text'],
]);
const nothings = new Set([
  ...['none', 'none yet', 'none so far', 'nothing', 'nothing yet', 'nil', 'null', 'n a', 'na', 'not applicable', 'no'],
  ...['unknown', 'not known', 'not yet', 'yes', 'ok', 'same', 'see above', 'as above', 'see below', 'ditto', 'empty'],
]);
const bracketed = /^(?:<[^<>]*>|\[[^[\]]*\]|\{[^{}]*\})$/;

function sectionProblem(name: SectionName, lines: readonly string[] | undefined): DocumentProblem | null {
  if (lines === undefined) return { what: 'missing', words: `the section ${name} is missing` };
  const saysSomething = lines.some((line) => isSaying(line, mayBeNone.includes(name)));
  return saysSomething ? null : { what: 'empty', words: `the section ${name} is not filled in` };
}

function isSaying(line: string, noneIsFine: boolean): boolean {
  const text = line
    .trim()
    .replace(/^(?:[-+*>|]|\d{1,3}[.)])\s/, '')
    .trim()
    .replace(/^\[[ xX]\]\s/, '');
  const words = (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
  if (words === '' || placeholders.has(words)) return false;
  if (noneIsFine) return true;
  return words.length > 1 && !nothings.has(words) && !bracketed.test(text);
}

function headProblems(sections: Sections, hasGit: boolean): DocumentProblem[] {
  const lines = sections.get('Git HEAD');
  if (!hasGit || lines === undefined || headIn(lines) !== null) return [];
  return [{ what: 'head', words: 'Git HEAD names no commit' }];
}

function headIn(lines: readonly string[]): string | null {
  let digitsOnly: string | null = null;
  for (const line of lines) {
    for (const [word] of line.matchAll(/(?<![\p{L}\p{N}_])[0-9a-f]+(?![\p{L}\p{N}_])/giu)) {
      const commit = word.toLowerCase();
      if (commit.length === 40 || commit.length === 64) return commit;
      // A short one without a digit is rather a word, one of digits only rather a date: unless there is nothing else.
      if (commit.length < 7 || commit.length > 40 || !/\d/.test(commit)) continue;
      if (/[a-f]/.test(commit)) return commit;
      digitsOnly ??= commit;
    }
  }
  return digitsOnly;
}

function backgroundProblems(sections: Sections, ids: readonly string[]): DocumentProblem[] {
  const lines = sections.get('Background work');
  if (lines === undefined) return [];
  const said = lines.join('\n').replaceAll('\\', '');
  // What could not be asked for by its id is not missed either.
  const unlisted = ids.filter((id) => isPlainWord(id) && !holdsWord(said, id));
  if (unlisted.length === 0) return [];
  return [{ what: 'background', words: `Background work does not list ${idWords(unlisted, idsNamedMax)}` }];
}

/** Not as a part of a longer word: `task-1` is in `task-1.`, not in `task-12` or `task-1-b`. */
function holdsWord(text: string, word: string): boolean {
  if (word === '') return true;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    const next = text[end] === '-' || text[end] === '_' ? text[end + 1] : text[end];
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(next)) return true;
  }
  return false;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
