import { inLocale } from './locale.ts';
import { type Cell, cutTo, folded, paint, width } from './output.ts';

/** A column of a table whose last one has what matters: the others give way to it. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => Cell;
  /** Where there is less room. */
  short?: (row: Row) => Cell;
  /** Which goes first where there is no room at all; left out: it never goes. */
  goes?: number;
}

const gap = 2;
/** As much of the last column stands beside the others; what is longer goes on in a line of its own. */
const lastWanted = 36;
/** With less it stands below its row. */
const lastLeast = 24;
const firstLeast = 8;

/** A table in which nothing of the last column is cut: others are shortened, then left out, and it is folded. */
export function fitted<Row>(
  all: readonly Column<Row>[],
  last: Column<Row>,
  rows: readonly Row[],
  room: number,
): string[] {
  const texts = rows.map(last.cell).map(writable);
  const wanted = Math.min(lastWanted, Math.max(width(last.title), ...texts.map(({ text }) => width(text))));
  const shownColumns = all.map(({ cell, short, ...column }) => ({
    ...column,
    cell: (row: Row) => writable(cell(row)),
    ...(short === undefined ? {} : { short: (row: Row) => writable(short(row)) }),
  }));
  const columns = chosen(shownColumns, rows, room - gap - wanted);
  const widths = columns.map((column) => widthOf(column, rows));
  const lastRoom = room - gap - taken(widths);
  const isBelow = lastRoom < Math.min(lastLeast, wanted);
  const [first = 0] = widths;
  // A name that is cut is still told from the others by what stands beside it.
  if (isBelow && taken(widths) > room) widths[0] = Math.min(first, Math.max(firstLeast, first - taken(widths) + room));
  const head = line(
    columns.map(({ title }) => ({ text: title, color: 'dim' as const })),
    widths,
  );
  const titled = isBelow ? head.trimEnd() : `${head}${' '.repeat(gap)}${paint(last.title, 'dim')}`;
  return [
    titled,
    ...rows.flatMap((row, index) => {
      const text = texts[index] ?? { text: '' };
      const start = line(
        columns.map(({ cell }) => cell(row)),
        widths,
      );
      if (!isBelow) return beside(start, taken(widths), text, lastRoom);
      const below = text.text === '-' ? [] : folded(text.text, Math.max(1, room - gap));
      return [start.trimEnd(), ...below.map((each) => ' '.repeat(gap) + paint(each, text.color ?? null))];
    }),
  ];
}

/** As wide as it will be where the locale has ASCII only. */
function writable(cell: Cell): Cell {
  return { ...cell, text: inLocale(cell.text) };
}

/** Shortened, then left out, in their order, until the rest has room. */
function chosen<Row>(all: readonly Column<Row>[], rows: readonly Row[], room: number): Column<Row>[] {
  let columns = [...all];
  const isTooWide = () => taken(columns.map((column) => widthOf(column, rows))) > room;
  if (isTooWide()) columns = columns.map((column) => ({ ...column, cell: column.short ?? column.cell }));
  const going = columns.filter(({ goes }) => goes !== undefined).sort((a, b) => (a.goes ?? 0) - (b.goes ?? 0));
  for (const column of going) if (isTooWide()) columns = columns.filter((each) => each !== column);
  return columns;
}

function beside(first: string, firstWidth: number, { text, color }: Cell, room: number): string[] {
  return folded(text, room).map((each, index) => {
    const before = index === 0 ? first : ' '.repeat(firstWidth);
    return `${before}${' '.repeat(gap)}${paint(each, color ?? null)}`;
  });
}

function line(cells: readonly Cell[], widths: readonly number[]): string {
  return cells
    .map(({ text, color }, index) => {
      const cut = cutTo(text, widths[index] ?? 0);
      return paint(cut, color ?? null) + ' '.repeat((widths[index] ?? 0) - width(cut));
    })
    .join(' '.repeat(gap));
}

function widthOf<Row>({ title, cell }: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((most, row) => Math.max(most, width(cell(row).text)), width(title));
}

function taken(widths: readonly number[]): number {
  return widths.reduce((total, each) => total + each, 0) + gap * Math.max(0, widths.length - 1);
}
