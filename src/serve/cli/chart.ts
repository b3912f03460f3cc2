/** Bars for a terminal, one column each, eight steps to a row. */
const eighths = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const rows = 5;
const axisColumns = 6;
const columnsMax = 80;

export interface Bar {
  percent: number;
  /** Put beneath it. */
  mark: string | null;
}

/** The newest bars that fit, on a scale of 0 to 100 percent. */
export function barChart(bars: readonly Bar[], room: number): string[] {
  const shown = bars.slice(-Math.max(1, Math.min(columnsMax, room) - axisColumns));
  const lines = Array.from({ length: rows }, (_, line) => {
    const row = rows - 1 - line;
    const cells = shown.map(({ percent }) => cell(percent, row)).join('');
    return `${`${((row + 1) * 100) / rows}%`.padStart(4)} ${line === 0 ? '┬' : '┤'}${cells}`.trimEnd();
  });
  const marks = shown.map(({ mark }) => mark ?? ' ').join('');
  return marks.trim() === '' ? lines : [...lines, `${' '.repeat(axisColumns)}${marks}`.trimEnd()];
}

function cell(percent: number, row: number): string {
  const perRow = 100 / rows;
  const filled = (Math.min(100, Math.max(0, percent)) - row * perRow) / perRow;
  // What is there is seen, however little.
  const least = row === 0 && percent > 0 ? 1 : 0;
  return eighths[Math.min(8, Math.max(least, Math.round(filled * 8)))] ?? ' ';
}
