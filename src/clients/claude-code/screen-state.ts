import { untrusted } from '../../model/text.ts';
import type { ScreenReading, TurnRow } from '../client.ts';
import { type BoxRegion, findBox, modeRow } from './screen.ts';
import { parseScreen } from './screen-cells.ts';
import { readBottom } from './screen-dialog.ts';

/**
 * What a captured screen says the client is doing. Only the client's own regions are looked at: the box, the last row
 * above it that begins in the first column, the footer, or the dialog at the bottom. What the agent said decides nothing.
 */
export function readScreen(screen: string): ScreenReading | null {
  const rows = parseScreen(screen);
  const box = findBox(rows);
  if (box === null) {
    const bottom = readBottom(rows);
    return bottom === null ? null : { ...bottom, takesPrompts: false, subagents: null, contextLeft: null, turn: null };
  }
  const agents = subagentsOf(box);
  const shows = box.takesPrompts ? boxShows(box, agents) : 'dialog';
  return {
    shows,
    takesPrompts: box.takesPrompts,
    tool: shows === 'busy' ? runningTool(box) : null,
    subagents: agents,
    contextLeft: contextLeft(box),
    turn: shows === 'busy' ? turnRow(box) : null,
    resets: untrusted(limitRow(box)),
  };
}

/** The mark of the box is grey while a turn runs, in every theme; without colours it says nothing. */
function markOf({ inside, inColour }: BoxRegion): 'running' | 'ready' | 'unknown' {
  const cell = inside[0]?.cells[0];
  if (cell === undefined || !inColour) return 'unknown';
  if (cell.faint) return 'running';
  return cell.coloured ? 'unknown' : 'ready';
}

function boxShows(box: BoxRegion, agents: number | null): ScreenReading['shows'] {
  const mark = markOf(box);
  const footer = modeRow(box.below)?.text.trim().split(' · ') ?? [];
  const status = statusRow(box);
  if (status === 'waiting-for-agents') return 'busy';
  if (mark === 'running' || (mark === 'unknown' && footer.includes('esc to interrupt')))
    return status === null || status === 'finished' ? 'busy' : status;
  if (mark === 'unknown' && status !== null && status !== 'finished') return status;
  // A row that tells of work above a box that waits: caught between two drawings.
  if (status !== null && status !== 'finished') return 'box';
  if (agents !== null) return 'busy';
  if (limitRow(box) !== null) return 'limited';
  if (isScrolledBack(box)) return 'box';
  if (mark === 'ready') return 'idle';
  return status === 'finished' || footer.includes('? for shortcuts') ? 'idle' : 'box';
}

type Status = 'busy' | 'retrying' | 'api-stall' | 'compacting' | 'waiting-for-agents' | 'finished';

function statusRow(box: BoxRegion): Status | null {
  const text = lastHead(box);
  if (!/^[·✢✳✶✻✽*] /.test(text)) return null;
  if (/^. Waiting for \d+ /.test(text)) return 'waiting-for-agents';
  if (/ · Retrying in .+ · attempt \d+\/\d+$/.test(text)) return 'retrying';
  if (/^. Waiting for API/.test(text)) return 'api-stall';
  if (/^. Compacting conversation…/.test(text)) return 'compacting';
  if (/^. [^…]{1,200}…( \(.*)?$/.test(text)) return 'busy';
  return /^✻ \p{L}[\p{L}-]* for (\d+[hms] ?)+( · |$)/u.test(text) ? 'finished' : null;
}

/** The last row above the box that begins in the first column; in a narrow pane its mark may stand alone above it. */
function lastHead(box: BoxRegion): string {
  const { above } = box;
  if (isScrolledBack(box)) return '';
  const at = above.findLastIndex((row) => /^\S/.test(row.text));
  for (let mark = at - 1; mark >= Math.max(0, at - 4); mark -= 1) {
    const text = above[mark]?.text ?? '';
    const wrapped = above.slice(mark, at + 1).map((row) => row.text);
    if (/^[·✢✳✶✻✽*]$/.test(text)) return wrapped.join(' ');
    if (!/^\S/.test(text)) break;
  }
  return above[at]?.text ?? '';
}

/** Then the rows above the box are of long ago. The notice is painted over the last of them. */
function isScrolledBack({ above, inColour }: BoxRegion): boolean {
  return above.slice(-2).some(({ text, cells }) => {
    const notice = /(Jump to bottom|\d+ new messages?) \(ctrl\+End\) ↓$/.exec(text);
    if (notice === null) return false;
    return !inColour || cells[[...text.slice(0, notice.index)].length]?.coloured === true;
  });
}

function subagentsOf(box: BoxRegion): number | null {
  const listed = box.below.filter((row) => /^[ ❯] [●◯] (?!main$)/.test(row.text)).length;
  const told = /^✻ Waiting for (\d+) /.exec(lastHead(box))?.[1];
  if (told !== undefined) return Number(told);
  return listed > 0 ? listed : null;
}

/** After this long without a word of the service the row tells of that, with some room for its drawing. */
const heardWithinMs = 50_000;

function turnRow(box: BoxRegion): TurnRow | null {
  const text = statusRow(box) === 'busy' ? lastHead(box) : '';
  const inside = /… \((.*)/.exec(text)?.[1];
  if (inside === undefined) return null;
  const tokens = /↓ ([\d.,]+k?) tokens/.exec(inside)?.[1] ?? '';
  // Whoever wrote it: a count that is printed text does not rise.
  const lines = blockAtWork(box).map((row) => /\([^()]* · ([\d.,]+k?) lines?\)\s*$/.exec(row.text)?.[1]);
  const isThinking = /\b(thinking|deep in thought|picking the thought back up)\b/.test(inside);
  return {
    text: untrusted(text),
    counts: `${tokens} ${lines.find((count) => count !== undefined) ?? ''}`,
    heardWithinMs: isThinking ? heardWithinMs : null,
  };
}

/** A shell command at work is shown right above the status row, its first line in grey. */
function runningTool(box: BoxRegion): string | null {
  const isShell = blockAtWork(box).some(({ text, cells }) => /^ {2}⎿ {2}\$ /.test(text) && cells[2]?.faint === true);
  return isShell ? 'Bash' : null;
}

function blockAtWork({ above }: BoxRegion): BoxRegion['above'] {
  const status = above.findLastIndex((row) => /^[·✢✳✶✻✽*] .*…/.test(row.text));
  // On a screen that is not full yet, the status row stands apart at its end.
  const end = above.slice(0, Math.max(0, status)).findLastIndex((row) => row.text !== '') + 1;
  const block = above.slice(Math.max(0, end - 8), end);
  const start = block.findLastIndex((row) => row.text === '');
  return block.slice(start + 1);
}

/** The row above the box is kept free for the client's notices. */
function contextLeft({ above }: BoxRegion): ScreenReading['contextLeft'] {
  const notices = (above.at(-1)?.text ?? '').trim().split(' · ');
  for (const notice of notices) {
    const percent = /^(\d{1,3})% until auto-compact$|^Context low \((\d{1,3})% remaining\)$/.exec(notice);
    if (percent !== null) return { percent: Number(percent[1] ?? percent[2]), of: 'usable' };
  }
  return null;
}

/** Directly below the box, before any status line. */
function limitRow({ below }: BoxRegion): string | null {
  return /^ {2}⚠ Usage limit reached · limit resets (.+)$/.exec(below[0]?.text ?? '')?.[1] ?? null;
}
