import type { InputBox } from '../client.ts';

/** The client's input box on a captured screen (`capture-pane -e`): between the last two rules, behind `❯`. */

interface Cell {
  character: string;
  faint: boolean;
  /** The cursor is painted as an inverted cell. */
  inverse: boolean;
}

/** With a no-break space, which what was said earlier and the choices of dialogs do not have. */
const mark = '❯\u00a0';

const rule = /^[─━╌]{20,}/;
/** How many lines under the box a status line and the client's footer may take. */
const footerLinesMax = 14;

/** What somebody typed into the box; the client's own grey hints are not that. */
export function findInputBox(screen: string): InputBox | null {
  const lines = parseScreen(screen);
  while (lines.length > 0 && textOf(lines.at(-1) ?? []).trim() === '') lines.pop();
  const bottom = lines.findLastIndex((line) => rule.test(textOf(line)));
  if (bottom < 0 || lines.length - bottom > footerLinesMax) return null;
  const top = lines.slice(0, bottom).findLastIndex((line) => rule.test(textOf(line)));
  const inside = lines.slice(top + 1, bottom);
  if (top < 0 || !textOf(inside[0] ?? []).startsWith(mark)) return null;
  // The rows of a wrapped text are indented below the mark.
  const typed = inside.map((line) => typedText(line.slice(mark.length))).join('\n');
  const stashed = /› stashed\s*$/.test(textOf(lines[top - 1] ?? []));
  return { text: typed.replace(/\s+$/, ''), mark, stashed };
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

function textOf(cells: Cell[]): string {
  return cells.map((cell) => cell.character).join('');
}

interface Style {
  dim: boolean;
  grey: boolean;
  inverse: boolean;
}

/** Lines of cells; a style goes on over the line's end. */
function parseScreen(screen: string): Cell[][] {
  let style: Style = { dim: false, grey: false, inverse: false };
  return screen.split('\n').map((line) => {
    const cells: Cell[] = [];
    for (const part of line.split(/(\u001b\[[0-9;:]*m)/)) {
      const codes = /^\u001b\[([0-9;:]*)m$/.exec(part)?.[1];
      if (codes !== undefined) style = styleAfter(style, codes);
      else
        for (const character of part) cells.push({ character, faint: style.dim || style.grey, inverse: style.inverse });
    }
    return cells;
  });
}

/** The client paints its hints dim, or in one of the greys. */
function styleAfter(before: Style, sequence: string): Style {
  const codes = sequence === '' ? ['0'] : sequence.split(';');
  const style = { ...before };
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index];
    if (code === '0') Object.assign(style, { dim: false, grey: false, inverse: false });
    else if (code === '2') style.dim = true;
    else if (code === '22') style.dim = false;
    else if (code === '7') style.inverse = true;
    else if (code === '27') style.inverse = false;
    else if (code === '39') style.grey = false;
    else if (code === '38' || code === '48') {
      const indexed = codes[index + 1] === '5';
      const number = Number(codes[index + 2]);
      if (code === '38') style.grey = indexed && number >= 240 && number <= 250;
      index += indexed ? 2 : 4;
    }
  }
  return style;
}
