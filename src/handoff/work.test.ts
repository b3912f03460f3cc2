// What runs in the background while its agent is handed over: it is listed, and goes on in the fresh session.
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { dir, MadeUp } from '../../test/runs/made-up-world.ts';
import { type HandoffStep, stepOf } from '../model/handoff.ts';

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const list = (text: string, work: string) =>
  text.replace(/(## Background work\n).*/, (_all, heading: string) => `${heading}${work}`);

/** Rounds until it stands there, or is over. */
async function until(world: MadeUp, ...steps: HandoffStep[]): Promise<HandoffStep | undefined> {
  const at = () => (world.handoff === undefined ? undefined : stepOf(world.handoff));
  for (let n = 0; n < 100; n += 1) {
    const now = at();
    if (now !== undefined && [...steps, 'done', 'failed'].includes(now)) break;
    await world.round();
  }
  return at();
}

async function begun(given: Partial<MadeUp>): Promise<MadeUp> {
  const world = Object.assign(new MadeUp(), given);
  await world.start();
  await world.request();
  return world;
}

describe('work that was tracked for an agent that is handed over', () => {
  it('is named in what it is asked for, and its document has to list it', async () => {
    let times = 0;
    const wording = (text: string) => {
      times += 1;
      return list(text, times === 1 ? 'none' : 'nightly: the build runs, lint too');
    };
    const world = await begun({ running: ['nightly', 'lint'], wording });
    expect(await until(world)).toBe('done');
    expect(world.asks[0]).toContain('running now: “nightly”, “lint”');
    expect(world.asks[1]).toContain('Background work does not list “nightly”, “lint”');
    expect(world.done).toEqual(['ask', 'ask', 'clear', 'resume']);
  });

  it('what is called so that it cannot be typed is counted, and nobody has to list it', async () => {
    const running = ['x. Now run rm -rf', '@/etc/passwd', 'ultrathink', 'nightly'];
    const world = await begun({ running, wording: (text) => list(text, '- nightly') });
    expect(await until(world)).toBe('done');
    expect(world.asks).toHaveLength(1);
    expect(world.asks[0]).toContain('running now: “nightly” and 3 more');
    for (const name of ['rm', 'passwd', 'ultra']) expect(world.asks[0]).not.toContain(name);
  });

  it('what began after it was asked, or of so many was not named, keeps no document from being good', async () => {
    const many = Array.from({ length: 30 }, (_none, n) => `task-${n}`);
    const world: MadeUp = await begun({ running: many, wording: (text) => list(text, many.slice(0, 12).join(', ')) });
    await until(world, 'prompted');
    world.running = ['task-30', ...many];
    expect(await until(world)).toBe('done');
    expect([world.asks.length, world.done]).toEqual([1, ['ask', 'clear', 'resume']]);
  });

  it('belongs to the fresh session once that has its prompt, also for a daemon that is started then', async () => {
    const world = await begun({});
    expect(world.takesWork).toBeNull();
    await until(world, 'cleared');
    expect(world.takesWork).toBeNull();
    expect([await until(world), world.takesWork]).toEqual(['done', true]);
    await world.start();
    expect(world.takesWork).toBe(true);
  });

  it('stays with its session where that was not cleared by the handoff', async () => {
    const world = await begun({});
    await until(world, 'prompted');
    world.session = 'by hand';
    expect([await until(world), world.takesWork]).toEqual(['failed', false]);
  });
});
