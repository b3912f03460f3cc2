import type { InputBox, ScreenReading } from '../../../src/clients/client.ts';

const rule = /^-{20,}$/;
const footer = '  enter: say it';

interface Screen {
  status: string;
  box: string[] | null;
  asks: boolean;
}

/** From below: the footer, the box up to its rule and the status above it; or a question in their place. */
function look(screen: string): Screen | null {
  const rows = screen
    .replaceAll(/\u001b\[[\d;]*m/g, '')
    .split('\n')
    .map((row) => row.trimEnd());
  while (rows.at(-1) === '') rows.pop();
  const at = rows.findLastIndex((row) => rule.test(row));
  const status = rows[at - 1] ?? '';
  const inside = rows.slice(at + 1);
  if (at < 1 || !/^\* (ready|talking)$/.test(status)) return null;
  if (inside[0]?.startsWith('? ')) return { status, box: null, asks: true };
  if (!/^>( |$)/.test(inside[0] ?? '') || inside.at(-1) !== footer) return null;
  return { status, box: inside.slice(0, -1), asks: false };
}

export function findInputBox(screen: string): InputBox | null {
  const box = look(screen)?.box ?? null;
  if (box === null) return null;
  const text = box.map((row) => row.slice(2)).join('\n');
  return { text, mark: '> ', stashed: false, chosen: null };
}

export function readScreen(screen: string): ScreenReading | null {
  const seen = look(screen);
  if (seen === null) return null;
  const shows = seen.asks ? 'permission' : seen.status === '* talking' ? 'busy' : 'idle';
  const takesPrompts = seen.box !== null;
  return { shows, takesPrompts, tool: null, subagents: null, contextLeft: null, turn: null, resets: null };
}
