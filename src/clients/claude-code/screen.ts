import type { InputBox } from '../client.ts';
import { type Cell, parseScreen, type Row } from './screen-cells.ts';

/** The client's input box on a captured screen: between the last two rules, behind `❯`. */

/** With a no-break space, which what was said earlier and the choices of dialogs do not have. */
const mark = '❯\u00a0';
/** In shell mode: what is typed then is run as a command. */
const shellMark = '!\u00a0';

const rule = /^[─━╌]{20,}/;
/** How many lines under the box a status line and the client's footer may take. */
const footerLinesMax = 14;

/** The box and what stands around it. What an agent says or prints is indented, so the first column is the client's own. */
export interface BoxRegion {
  above: Row[];
  inside: Row[];
  below: Row[];
  /** The client draws in colours, and the capture has them. */
  inColour: boolean;
  /** What is typed now goes into the main conversation's box: not to a shell, a subagent or a list that has the keys. */
  takesPrompts: boolean;
  /** The menu of commands that older versions draw in the place of the footer. */
  menuBelow: Row[] | null;
}

export function findBox(rows: Row[]): BoxRegion | null {
  const bottom = rows.findLastIndex((row) => rule.test(row.text));
  if (bottom < 0 || rows.length - bottom > footerLinesMax) return null;
  const top = rows.slice(0, bottom).findLastIndex((row) => rule.test(row.text));
  const upper = rows[top];
  const inside = rows.slice(top + 1, bottom);
  const first = inside[0]?.text ?? '';
  const below = rows.slice(bottom + 1);
  const menuBelow = menuOf(first, below);
  if (upper === undefined || (menuBelow === null && !below.every(isFooter))) return null;
  if (!first.startsWith(mark) && !first.startsWith(shellMark)) return null;
  const region = { above: rows.slice(0, top), inside, below, inColour: upper.cells[0]?.coloured === true, menuBelow };
  return { ...region, takesPrompts: first.startsWith(mark) && !isElsewhere(region) };
}

/** In one column the commands, in another their descriptions, and only while a command is being typed (seen on 2.1.200). */
function menuOf(first: string, below: Row[]): Row[] | null {
  if (!first.startsWith(`${mark}/`)) return null;
  const column = /^[/…]\S+ {2,}(?=\S)/.exec(below[0]?.text ?? '')?.[0].length;
  if (column === undefined)
    return below.length === 1 && /^No commands match "\//.test(below[0]?.text ?? '') ? [] : null;
  const isEntry = ({ text }: Row) =>
    (/^[/…]\S+ /.test(text) || text.startsWith(' '.repeat(column))) && /^ \S$/.test(text.slice(column - 1, column + 1));
  return below.every(isEntry) ? below : null;
}

/** Below a box everything is indented, but for the mark in the list of agents. A shell's prompt is not. */
function isFooter({ text }: Row): boolean {
  return text === '' || text.startsWith('  ') || /^❯ [●◯] /.test(text);
}

/** The keys go to a list or a search under the box, or the box belongs to the subagent that is looked at. */
function isElsewhere({ below, inside, inColour }: Omit<BoxRegion, 'takesPrompts'>): boolean {
  const taken = /^❯ [●◯] |^ {2}◯ main$|^ {2}↑\/↓ to select|^ {2}(search prompts|no matching prompts?):/;
  if (below.some(({ text }) => taken.test(text))) return true;
  const mode = modeRow(below);
  if (mode === undefined) return false;
  if (mode.text.includes(' · Enter to view')) return true;
  if (mode.cells.some((cell) => cell.inverse)) return true;
  // What is chosen there is inverted; without colours only a hint that the list could be chosen shows that it is not.
  const isEmpty = inside.length === 1 && inside[0]?.text.trim() === mark.trim();
  return !inColour && isEmpty && / · \d+ /.test(mode.text) && !/ · (← for|↓)/.test(mode.text);
}

/** The client's own row of the footer; those before it may be a status line. */
export function modeRow(below: Row[]): Row | undefined {
  return below.findLast(({ text }) => /^ {2}(⏸|⏵⏵) .+ on\b/.test(text));
}

/** What somebody typed into the box; the client's own grey hints are not that. */
export function findInputBox(screen: string): InputBox | null {
  const box = findBox(parseScreen(screen));
  if (box?.takesPrompts !== true) return null;
  // The rows of a wrapped text are indented below the mark.
  const typed = box.inside.map((row) => typedText(row.cells.slice(mark.length))).join('\n');
  const stashed = /› stashed\s*$/.test(box.above.at(-1)?.text ?? '');
  return {
    text: typed.trimEnd(),
    mark,
    stashed,
    chosen: box.menuBelow === null ? chosenCommand(box.above) : chosenBelow(box.menuBelow),
  };
}

/**
 * In the menu of commands right above the box, whose rows hold a command, cut off on the left where it is too long, or go
 * on with its description. One is chosen while what was typed begins it; behind its whole name and a blank there is no menu.
 */
function chosenCommand(above: Row[]): string | null {
  const start = above.findLastIndex(({ text }) => !/^ {2}[❯ ] [/…]\S|^ {8,}\S/.test(text));
  const rows = above.slice(start + 1).map(({ text }) => /^ {2}❯ ([/…]\S+)/.exec(text)?.[1]);
  return rows.find((name) => name !== undefined) ?? null;
}

/** The one that is not grey; without colours the first, which is chosen until somebody moves on. */
function chosenBelow(menu: Row[]): string | null {
  const bright = menu.find(({ cells }) => cells[0]?.coloured === true && !cells[0].faint);
  return /^\S+/.exec((bright ?? menu[0])?.text ?? '')?.[0] ?? null;
}

/** Without the hints: they are faint, but for the one character the cursor stands on. */
function typedText(cells: Cell[]): string {
  const solid = cells.filter((cell) => cell.character.trim() !== '' && !cell.faint);
  const faint = cells.some((cell) => cell.faint && cell.character.trim() !== '');
  if (faint && solid.every((cell) => cell.inverse) && solid.length <= 1) return '';
  return cells
    .map((cell) => (cell.faint ? ' ' : cell.character))
    .join('')
    .replaceAll('\u00a0', ' ')
    .trimEnd();
}
