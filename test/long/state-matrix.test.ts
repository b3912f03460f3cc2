// Every combination of hooks, status line, registry, shell and permission mode, two at a time.
import { test } from 'vitest';
import { describeSetup, type Setup } from '../../src/conform/setup.ts';
import { runSetups } from '../clients/state-matrix.ts';
import { watched } from '../clients/watching.ts';

const yesNo = [true, false];
const shells: Setup['shell'][] = ['bash', 'sh'];
const all = yesNo.flatMap((registry) =>
  yesNo.flatMap((hooks) =>
    yesNo.flatMap((statusLine) =>
      yesNo.flatMap((direct) =>
        (['default', 'auto'] as const).map((mode) => ({ registry, hooks, statusLine, direct, mode })),
      ),
    ),
  ),
);
const setups: Setup[] = all.map(({ direct, ...setup }, index) => ({
  ...setup,
  name: `s${String(index + 1).padStart(2, '0')}`,
  // Under a shell, which one in turns.
  shell: direct ? 'direct' : (shells[Math.floor(index / 4) % 2] ?? 'bash'),
}));

const atOnce = 2;
for (let from = 0; from < setups.length; from += atOnce) {
  const some = setups.slice(from, from + atOnce);
  test(
    some.map(describeSetup).join(' | '),
    watched((s) => runSetups(s, some)),
    360_000,
  );
}
