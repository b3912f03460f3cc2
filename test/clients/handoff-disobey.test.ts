// Models and people that do not do their part in a handoff: the kinds that happen most. test/long has all of them.
import { test } from 'vitest';
import { late, poorDocuments } from './disobedient-models.ts';
import { playAll, World } from './disobeying.ts';
import { interferences } from './interfering.ts';
import { scenario } from './scenario.ts';

test(
  'nothing is cleared without a good document, a person is told, and who does not take it up has its old context back',
  scenario(async (s) => {
    const world = new World(s, 0.3);
    await world.up();
    const { none, link } = poorDocuments;
    const { poor, unread } = late;
    const { clearsaved } = interferences;
    await playAll(world, { unread, none, poor, link, clearsaved, half: poorDocuments.half }, 3);
  }),
  300_000,
);
