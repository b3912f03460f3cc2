import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { inLocale } from './locale.ts';
import { cutTo } from './output.ts';

const enter = '\u001b[?1049h\u001b[?25l';
// Emptied first: a terminal that was resized meanwhile may mix what is left there with what it brings back.
const leave = '\u001b[H\u001b[2J\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const restOfLine = '\u001b[K';
const restOfScreen = '\u001b[J';

/**
 * Shows a text anew in the same place, on the terminal's other screen, until the program is ended: what was on the terminal before is
 * there again afterwards. `text`: asked every time, and at once when the terminal gets another size.
 */
export async function redraw(text: () => Promise<string>, everyMs: number): Promise<never> {
  const { stdout } = process;
  let resized: () => void = () => {};
  stdout.on('resize', () => resized());
  const restore = () => void stdout.write(leave);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  process.on('exit', restore);
  stdout.write(enter);
  for (;;) {
    const next = new Promise<void>((resolve) => {
      resized = resolve;
    });
    stdout.write(screenOf(inLocale(await text()), stdout.rows || 24));
    await Promise.race([next, sleep(everyMs)]);
  }
}

/** What does not fit below is left out, and that is said. */
export function screenOf(text: string, rows: number): string {
  const lines = text.split('\n');
  const left = lines.length - rows;
  const shown = left <= 0 ? lines : [...lines.slice(0, rows - 1), cutTo(`${left + 1} more lines`, 80)];
  return `${home}${shown.map((line) => `${line}${restOfLine}`).join('\r\n')}${restOfScreen}`;
}
