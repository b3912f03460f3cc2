// Every screen of the real client, at several sizes, with and without a status line, under several terminals:
// read right, or not at all, and never so that somebody would type where nothing may be typed.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { scenario } from '../clients/scenario.ts';
import { acts, isDangerous, type Variant, walk } from '../clients/screens/walk.ts';

const variants: Record<string, Variant> = {
  '120x40': { size: { columns: 120, rows: 40 }, term: 'tmux-256color' },
  '80x24-status-line': { size: { columns: 80, rows: 24 }, statusLine: true, term: 'xterm-256color' },
  '50x20-screen': { size: { columns: 50, rows: 20 }, term: 'screen' },
  '100x30-inline': {
    size: { columns: 100, rows: 30 },
    statusLine: true,
    term: 'tmux-256color',
    env: { CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN: '1' },
  },
};

/** A person scrolled back, so what goes on is out of sight; a shell wrote over what a killed client left. */
const unreadable = ['scrolled', 'killed-bash', 'killed-sh', 'setup-key-left'];

/** `RECORD_SCREENS=1` writes the goldens anew. */
const goldens = (name: string) =>
  process.env.RECORD_SCREENS === '1'
    ? path.join(path.dirname(fileURLToPath(import.meta.url)), '../fixtures/screens', name)
    : null;

describe.each(Object.entries(variants))('what the client shows is read right, %s', (name, variant) => {
  const isInline = variant.env?.CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN === '1';
  test.each(acts.filter((act) => !(isInline && act.name === 'the whole screen')))('$name', (act) =>
    scenario(async (s) => {
      const seen = await walk(s, act, variant, goldens(name));
      expect(seen.filter(({ truth, reading }) => isDangerous(truth, reading))).toEqual([]);
      expect(seen.filter(({ truth, plain }) => isDangerous(truth, plain))).toEqual([]);
      const unsure = seen.filter(({ truth, reading }) => reading?.shows !== truth);
      // There the menu hangs below the box, longer than any footer.
      const known = isInline ? [...unreadable, 'slash-menu'] : unreadable;
      expect(unsure.filter(({ name }) => !known.includes(name))).toEqual([]);
    })(),
  );
});
