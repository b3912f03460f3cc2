/** A captured screen (`capture-pane -p`, better with `-e`) as rows of cells. */

export interface Cell {
  character: string;
  /** Dim, or in one of the greys: so the client paints its hints. */
  faint: boolean;
  /** In any colour of its own. */
  coloured: boolean;
  /** The cursor is painted as an inverted cell. */
  inverse: boolean;
}

export interface Row {
  cells: Cell[];
  text: string;
}

interface Style {
  dim: boolean;
  colour: 'none' | 'grey' | 'other';
  inverse: boolean;
}

const plain: Style = { dim: false, colour: 'none', inverse: false };

/** Without the empty rows at the end; a style goes on over the end of a row. */
export function parseScreen(screen: string): Row[] {
  let style = plain;
  const rows = screen.split(/\r?\n/).map((line) => {
    const cells: Cell[] = [];
    for (const part of line.split(/(\u001b\[[0-9;:]*m)/)) {
      const codes = /^\u001b\[([0-9;:]*)m$/.exec(part)?.[1];
      if (codes !== undefined) style = styleAfter(style, codes);
      else for (const character of part) cells.push(cellOf(character, style));
    }
    return {
      cells,
      text: withoutBlanksAtEnd(cells.map((cell) => cell.character).join('')),
    };
  });
  while (rows.length > 0 && rows.at(-1)?.text === '') rows.pop();
  return rows;
}

function withoutBlanksAtEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ') end -= 1;
  return text.slice(0, end);
}

function cellOf(character: string, { dim, colour, inverse }: Style): Cell {
  return { character, faint: dim || colour === 'grey', coloured: dim || colour !== 'none', inverse };
}

function styleAfter(before: Style, sequence: string): Style {
  const codes = sequence === '' ? ['0'] : sequence.split(/[;:]/);
  let style = { ...before };
  for (let index = 0; index < codes.length; index += 1) {
    const code = Number(codes[index]);
    if (code === 0) style = { ...plain };
    else if (code === 2) style.dim = true;
    else if (code === 22) style.dim = false;
    else if (code === 7) style.inverse = true;
    else if (code === 27) style.inverse = false;
    else if (code === 39) style.colour = 'none';
    else if (code === 90) style.colour = 'grey';
    else if ((code >= 30 && code <= 37) || (code > 90 && code <= 97)) style.colour = 'other';
    else if (code === 38 || code === 48) {
      const indexed = codes[index + 1] === '5';
      const values = codes.slice(index + 2, index + (indexed ? 3 : 5)).map(Number);
      if (code === 38) style.colour = isGrey(values) ? 'grey' : 'other';
      index += indexed ? 2 : 4;
    }
  }
  return style;
}

/** A number of the 256 colours, or red, green and blue. */
function isGrey(values: number[]): boolean {
  const [first = 0, ...others] = values;
  if (others.length === 0) return first >= 240 && first <= 250;
  return first >= 80 && first <= 190 && others.every((value) => value === first);
}
