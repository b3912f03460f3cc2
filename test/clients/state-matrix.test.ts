// The whole table of states on the real Claude Code, with everything there is to see it by and with nothing but the
// screen and an unnamed transcript. All combinations: test/long/state-matrix.test.ts.
import { test } from 'vitest';
import type { Setup } from '../../src/conform/setup.ts';
import { runSetups } from './state-matrix.ts';
import { watched } from './watching.ts';

const everything: Setup = {
  name: 'all',
  hooks: true,
  statusLine: true,
  registry: true,
  shell: 'direct',
  mode: 'default',
};
const nothing: Setup = { name: 'none', hooks: false, statusLine: false, registry: false, shell: 'bash', mode: 'auto' };

test(
  'every state is seen within two seconds, with all sources and with next to none',
  watched((s) => runSetups(s, [everything, nothing])),
  240_000,
);
