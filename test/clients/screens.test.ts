// The screen alone tells what the real client does, with a status line too, which hides its "esc to interrupt".
import { expect, test } from 'vitest';
import { scenario } from './scenario.ts';
import { acts, isDangerous, walk } from './screens/walk.ts';

const variant = { size: { columns: 80, rows: 24 }, statusLine: true, term: 'tmux-256color' };
// The others: test/long/screens.test.ts.
const some = acts.filter(({ name }) => name === 'permissions');

test.each(some)('what the client shows is read right: $name', (act) =>
  scenario(async (s) => {
    const seen = await walk(s, act, variant, null);
    expect(seen.filter(({ truth, reading }) => isDangerous(truth, reading))).toEqual([]);
    // A person who scrolled back does not see what goes on, and neither does the screen.
    expect(seen.filter(({ name, truth, reading }) => reading?.shows !== truth && name !== 'scrolled')).toEqual([]);
  })(),
);
