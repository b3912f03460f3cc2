import { printable, shown } from '../../model/text.ts';
import { inLocale, jsonInLocale } from './locale.ts';

/** stdout carries the result. */
export function print(text: string): void {
  process.stdout.write(`${inLocale(text)}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${jsonInLocale(JSON.stringify(value))}\n`);
}

/** stderr carries the messages: one line each, on a terminal broken between words. */
export function say(text: string): void {
  const message = inLocale(`watchkeeper: ${text}`);
  process.stderr.write(`${process.stderr.isTTY ? wrapped(message, '', process.stderr.columns) : message}\n`);
}

const useColor = process.stdout.isTTY === true && !process.env.NO_COLOR;

export type Color = 'green' | 'yellow' | 'red' | 'blue' | 'dim';
const codes: Record<Color, number> = { green: 32, yellow: 33, red: 31, blue: 34, dim: 2 };

export function paint(text: string, color: Color | null): string {
  return useColor && color !== null ? `\u001b[${codes[color]}m${text}\u001b[0m` : text;
}

export interface Cell {
  text: string;
  color?: Color;
}

export const columnsMax = 80;

/** A column cut down further says nothing. */
const columnMin = 8;

/**
 * A table as wide as it needs, at most the terminal's width: the widest column gives way first. Plain when piped. Where
 * even that is too narrow, each row stands in lines of its own.
 */
export function table(head: string[], given: Cell[][], room = roomFor()): string {
  const rows = given.map((row) => row.map((cell) => ({ ...cell, text: inLocale(cell.text) })));
  const widths = head.map((title, index) =>
    Math.max(width(title), ...rows.map((row) => width(row[index]?.text ?? ''))),
  );
  const gaps = 2 * (head.length - 1);
  for (let over = sum(widths) + gaps - room; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= columnMin) return rows.map((row) => inLines(head, row, room)).join('\n');
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  const rowText = (cells: Cell[]) =>
    cells
      .map((cell, index) => {
        const cut = cutTo(cell.text, widths[index] ?? 0);
        const last = index === cells.length - 1;
        return paint(cut, cell.color ?? null) + (last ? '' : ' '.repeat((widths[index] ?? 0) - width(cut)));
      })
      .join('  ')
      .trimEnd();
  return [rowText(head.map((text) => ({ text, color: 'dim' }))), ...rows.map(rowText)].join('\n');
}

/** One row of a table that has no room: what it is about, and below it the rest by the names of the columns. */
function inLines([_, ...head]: string[], [first, ...rest]: Cell[], room: number): string {
  const words = rest.map(({ text }, index) => `${head[index]?.toLowerCase()} ${text}`).join(', ');
  return `${paint(cutTo(first?.text ?? '', room), first?.color ?? null)}\n${wrapped(words, '  ', room)}`;
}

/** At most so many columns; what is cut ends in a mark. */
export function cutTo(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  const more = inLocale('…');
  return `${startOf(text, columns - width(more))}${more}`;
}

/** As many characters from the start as there is room for. */
function startOf(text: string, columns: number): string {
  let kept = '';
  let left = columns;
  for (const character of text) {
    left -= width(character);
    if (left < 0) break;
    kept += character;
  }
  return kept;
}

/** Columns on a terminal; east Asian and emoji characters take two. */
export function width(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    columns += /\p{M}/u.test(character)
      ? 0
      : /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
            character,
          )
        ? 2
        : 1;
  }
  return columns;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** "12s", "4m", "3h 10m", "2d 4h": how long ago, for people. */
export function ago(sinceMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

export function tokens(count: number): string {
  if (count < 1_000) return `${count}`;
  return count >= 1_000_000 ? `${Math.round(count / 100_000) / 10}M` : `${Math.round(count / 1000)}k`;
}

function clock(at: string | number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** On the reader's clock: "10:04:42", with the day if that is another one: "01-31 10:04". */
export function when(at: string | number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? clock(at) : dateAndClock(at).slice(5, 16);
}

/** A text with the times in it on the reader's clock. */
export function withOwnTimes(text: string): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (at) => when(at));
}

/** "2026-01-31 10:04:42", on the reader's clock. */
export function dateAndClock(at: string | number): string {
  const day = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())} ${clock(at)}`;
}

/** One line of at most the terminal's width. */
export function line(text: string): string {
  return process.stdout.isTTY ? cutTo(inLocale(text), roomFor()) : text;
}

/** A command on a line of its own, which is never broken, so that it can be pasted. */
export function commandLine(command: string): string {
  return `  $ ${printable(command)}`;
}

/** Text of any length in lines of at most the terminal's width, all indented alike. A word longer than that stays whole. */
export function wrapped(text: string, indent = '', room = roomFor()): string {
  if (text.includes('\n'))
    return text
      .split('\n')
      .map((each) => (each.startsWith(commandLine('')) ? each : wrapped(each, indent, room)))
      .join('\n');
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? `${indent}${word}` : `${line} ${word}`;
    if (line !== '' && width(longer) > room) {
      lines.push(line);
      line = `${indent}${word}`;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

/** Lines of at most so many columns; a word longer than that is broken. */
export function folded(text: string, room: number): string[] {
  const words = inLocale(text)
    .split(' ')
    .flatMap((word) => {
      const parts: string[] = [];
      let rest = word;
      while (width(rest) > room) {
        // At least one: a wide character may have no room at all.
        const part = startOf(rest, room) || ([...rest][0] ?? '');
        parts.push(part);
        rest = rest.slice(part.length);
      }
      return [...parts, rest];
    });
  return wrapped(words.join(' '), '', room).split('\n');
}

/** Short words, then a text that goes on below its own beginning. */
export function hanging(before: Cell[], text: string, room = roomFor()): string {
  const indent = before.map((cell) => ' '.repeat(width(cell.text) + 2)).join('');
  const painted = before.map((cell) => `${paint(cell.text, cell.color ?? null)}  `).join('');
  return painted + wrapped(text, indent, room).slice(indent.length);
}

export function roomFor(): number {
  return process.stdout.isTTY ? process.stdout.columns || columnsMax : columnsMax;
}

/** Of what is never cut in a pipe: whoever reads it there can do so. */
export function pageRoom(): number {
  return process.stdout.isTTY ? roomFor() : Number.POSITIVE_INFINITY;
}

/** Data of an event as `key=value` words. */
export function words(data: { [key: string]: unknown }): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : shown(String(value))}`)
    .join(' ');
}
