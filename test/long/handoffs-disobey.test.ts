// Every kind of disobedience, and of interference, on the real client: each ends as it should, with nothing lost.
import { expect, test } from 'vitest';
import { late, poorDocuments } from '../clients/disobedient-models.ts';
import { type Kind, playAll, World } from '../clients/disobeying.ts';
import { writeHandoffReport } from '../clients/handoff-report.ts';
import { crashes, interferences } from '../clients/interfering.ts';
import { scenario } from '../clients/scenario.ts';

test(
  'each kind ends in a defined state: never cleared without a stored document, nothing lost, a human told',
  scenario(async (s) => {
    const world = new World(s, 0.3);
    await world.up();
    const wanted = process.env.WATCHKEEPER_KINDS?.split(',');
    const chosen = (groups: Record<string, Record<string, Kind>>) =>
      Object.entries(groups)
        .flatMap(([group, kinds]) =>
          Object.entries(kinds).map(([key, kind]): [string, Kind] => [`${group}-${key}`, kind]),
        )
        .filter(([key]) => wanted === undefined || wanted.some((part) => key.includes(part)));
    const all = chosen({ doc: poorDocuments, late, people: interferences });
    const played = await playAll(world, Object.fromEntries(all), 5);
    expect(played.size).toBe(all.length);
    world.reconfigure({ tickSeconds: 2 });
    const last = chosen({ crash: crashes });
    for (const [kind, end] of await playAll(world, Object.fromEntries(last), 3)) played.set(kind, end);
    expect(played.size).toBe(all.length + last.length);
    writeHandoffReport(played);
  }),
  1_800_000,
);
