import { redact } from '../../model/redact.ts';
import { untrusted } from '../../model/text.ts';
import type { ScreenReading } from '../client.ts';
import type { Row } from './screen-cells.ts';

/**
 * What stands at the bottom of a screen without an input box. A dialog is read from its last row upwards: its upper
 * end may be scrolled away, and above its choices stands what the agent wants to do, in the agent's own words.
 */

type Reading = Pick<ScreenReading, 'shows' | 'tool' | 'resets' | 'asks'>;

const only = (shows: ScreenReading['shows']): Reading => ({ shows, tool: null, resets: null });

export function readBottom(rows: Row[]): Reading | null {
  const lines = rows.map((row) => row.text);
  if (hasLeft(lines)) return only('left');
  const reading = readFramed(lines) ?? readBare(lines);
  if (reading === null || !asking.includes(reading.shows)) return reading;
  const words = wordsOf(lines);
  return words === '' ? reading : { ...reading, asks: untrusted(words) };
}

const asking: readonly ScreenReading['shows'][] = ['permission', 'question', 'setup', 'dialog'];
const wordsMax = 1_500;

/** What stands in it above its choices; its upper end may be off the screen. */
function wordsOf(lines: string[]): string {
  const top = lines.findLastIndex((line) => isRule(line) || frame.test(line));
  const inside = lines.slice(top + 1).map((line) => line.trim());
  const choices = inside.findLastIndex((line) => /^(❯ )?1\. /.test(line));
  const rows = inside
    .slice(0, choices < 0 ? inside.length : choices)
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !notOfIt.test(line));
  return redact(unwrapped(rows).join(' '))
    .replace(/[│\s]+/g, ' ')
    .replace(/\bTip: .{0,200}? below /, '')
    .trim()
    .slice(0, wordsMax);
}

/** A secret that is longer than a row is known as one only where its rows are one word again. */
function unwrapped(rows: string[]): string[] {
  const whole: string[] = [];
  for (const row of rows) {
    const last = whole.at(-1);
    if (last !== undefined && redact(last + row).length < (redact(last) + redact(row)).length)
      whole[whole.length - 1] = last + row;
    else whole.push(row);
  }
  return whole;
}

/** Choices without numbers, keys, and advice of the client's own. */
const notOfIt = /^❯|^(❯ )?(\d+\. |\[.\] )|\b(Esc|Enter|Ctrl[-+]\w|Tab) to |^Chat about this$/;

/** A shell's prompt is the last row, or the client's farewell is near it. */
function hasLeft(lines: string[]): boolean {
  const ending = lines.slice(-8);
  const farewell = ending.indexOf('Resume this session with:');
  if (farewell >= 0 && ending[farewell + 1]?.startsWith('claude ') === true) return true;
  return /^\S(.{0,200}[\w)\]~/ ])?[$#%>] ?$|^[$#%>] ?$/.test(lines.at(-1) ?? '');
}

/** Of the client's own commands and plans; a notice may be written over all of the frame but its end. */
const frame = /^(▔| \S).*▔$/;

function readFramed(lines: string[]): Reading | null {
  const inside = below(lines, (line) => frame.test(line));
  return inside === null ? null : (readTitled(inside) ?? only('dialog'));
}

/** What follows the last such row, if all of it is indented: whatever is not came after the dialog. */
function below(lines: string[], isTop: (line: string) => boolean): string[] | null {
  const top = lines.findLastIndex(isTop);
  const inside = lines.slice(top + 1).filter((line) => line !== '');
  return top < 0 || inside.length === 0 || inside.some((line) => /^\S/.test(line)) ? null : inside;
}

const planTitle = /^(Ready to code\?|Exit plan mode\?|Claude has written up a plan )/;

/** Plans and limits look alike with a frame (in the alternate screen) and below a mere rule. */
function readTitled(inside: string[]): Reading | null {
  const [title = '', first = ''] = inside.map((line) => line.trim()).filter((line) => !/^─+$/.test(line));
  if (planTitle.test(title)) return only('question');
  if (title !== 'What do you want to do?' || !/^(❯ )?1\. Stop and wait for limit to reset$/.test(first)) return null;
  const resets = /continue automatically at (.+?) \d+\. /.exec(inside.map((line) => line.trim()).join(' '));
  return { ...only('limited'), resets: untrusted(resets?.[1] ?? null) };
}

interface Bottom {
  lines: string[];
  parts: string[][];
  /** The last paragraph with something to choose in it. */
  choices: string[];
  /** The keys it takes, below the choices. */
  hint: string;
}

/** Permissions, questions and what is asked before the first prompt. */
function readBare(lines: string[]): Reading | null {
  if (/^ {2}Showing detailed transcript · /.test(lines.at(-1) ?? '') && isRule(lines.at(-2))) return only('dialog');
  const parts = paragraphs(lines);
  const last = parts.at(-1) ?? [];
  const isHint = !last.some(isChosen) && !/^ ?[❯ ] \d+\. /.test(last[0] ?? '');
  const bottom: Bottom = {
    lines,
    parts,
    choices: (isHint ? parts.at(-2) : last) ?? [],
    hint: isHint ? last.join(' ').replace(/\s+/g, ' ') : '',
  };
  const inside = below(lines, isRule);
  const titled = inside === null ? null : readTitled(inside);
  if (titled !== null) return titled;
  if (isQuestion(bottom)) return only('question');
  if (isPermission(bottom)) return { ...only('permission'), tool: permissionTool(lines) };
  if (isSetup(bottom)) return only('setup');
  // Any other that says how to leave it.
  return inside !== null && /(^ ?| · )Esc to \w+( · |$)/.test(bottom.hint) ? only('dialog') : null;
}

const isRule = (line: string | undefined) => line !== undefined && /^─{20,}$/.test(line);
const isChosen = (line: string) => /^ {0,2}❯ \S/.test(line);

function paragraphs(lines: string[]): string[][] {
  const parts: string[][] = [[]];
  for (const line of lines) {
    if (line === '') parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts.filter((part) => part.length > 0);
}

function isQuestion({ lines, parts, choices, hint }: Bottom): boolean {
  if (/^Enter to select · .*Esc to cancel$/.test(hint)) return lines.some((line) => /^[❯ ] \d+\. /.test(line));
  const review = parts[parts.indexOf(choices) - 1] ?? [];
  return review.join(' ') === 'Ready to submit your answers?' && /^[❯ ] 1\. Submit answers$/.test(choices[0] ?? '');
}

function isPermission({ choices, hint }: Bottom): boolean {
  const first = choices.findIndex((line) => /^ [❯ ] 1\. Yes\b/.test(line));
  if (first < 1 || !choices.some((line) => /^ [❯ ] \d+\. No\b/.test(line)) || !choices.some(isChosen)) return false;
  if (hint !== '' && !/^ (Esc to cancel|Press Ctrl-C again)/.test(hint)) return false;
  const above = choices.findLastIndex((line) => /^╌{20,}$/.test(line));
  const asked = choices.slice(above + 1, first).map((line) => line.trim());
  return /^Do you want to .+\?$/.test(asked.join(' '));
}

const toolTitles: Record<string, string> = {
  'Bash command': 'Bash',
  'Create file': 'Write',
  'Overwrite file': 'Write',
  'Edit file': 'Edit',
  Fetch: 'WebFetch',
};

/** The title stands below the dialog's own rule, when that is still on the screen. */
function permissionTool(lines: string[]): string | null {
  const top = lines.findLastIndex((line) => isRule(line));
  return toolTitles[lines[top + 1]?.trim() ?? ''] ?? null;
}

function isSetup({ lines, choices, hint }: Bottom): boolean {
  const isAskedOnce = /^ (Enter to confirm · Esc to cancel|Press Ctrl-C again to exit)$/.test(hint);
  if (isAskedOnce && choices.some(isChosen) && !choices.some((line) => /^ *(❯ )?\d+\. /.test(line))) return true;
  if (hint === ' Press Enter to continue…') return lines.includes(' Security notes:');
  return /^ ╌{10,} .* ╌{10,} Syntax theme: /.test(hint);
}
