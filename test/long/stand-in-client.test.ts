// The stand-in client where it misbehaves in the middle of a handoff: what was said is not said again, and it ends by name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handedOver, openWorldWithParrots, Parrot, tag } from '../stand-in-client/parrots.ts';
import type { World } from '../system/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorldWithParrots({ deadlineMinutes: 0.75 });
});
afterAll(() => world.end());

const ms = 600_000;

describe.concurrent('a handoff of a client', () => {
  it('whose record comes eleven seconds late goes its whole way, and each thing is said once', async () => {
    const parrot = await Parrot.open(world, 'late-ps', ['late']);
    await world.seen('late-ps', ({ state, session_id }) => state === 'idle' && session_id !== null);
    expect(await handedOver(world, 'late-ps', ms)).toMatchObject({ step: 'done' });
    expect(parrot.submitted()).toEqual([expect.stringMatching(tag), ':new', expect.stringMatching(tag)]);
  });

  it('whose record nobody can read fails before anything is cleared, asked once', async () => {
    const parrot = await Parrot.open(world, 'garbled-ps', ['garbled']);
    await world.seen('garbled-ps', 'idle');
    expect(await handedOver(world, 'garbled-ps', ms)).toMatchObject({ step: 'failed', reason: 'uncertain' });
    expect(parrot.submitted()).toEqual([expect.stringMatching(tag)]);
  });

  it('that does not read the document is brought back, once, by a command of its own', async () => {
    const parrot = await Parrot.open(world, 'forgetful-ps', ['forgetful']);
    const { session_id: before } = await world.seen('forgetful-ps', 'idle');
    const handoff = await handedOver(world, 'forgetful-ps', ms);
    expect(handoff).toMatchObject({ step: 'failed', reason: 'not-confirmed', old_session: before });
    await world.seen('forgetful-ps', ({ session_id }) => session_id === before);
    const [ask, clear, resume, ...back] = parrot.submitted();
    expect([ask, clear, resume]).toEqual([expect.stringMatching(tag), ':new', expect.stringMatching(tag)]);
    expect(back).toEqual([`:back ${before}`]);
  });

  it('that dies under the request fails as ended, and the shell below gets nothing', async () => {
    const parrot = await Parrot.open(world, 'dying-ps', ['dies-on-paste']);
    await world.seen('dying-ps', 'idle');
    expect(await handedOver(world, 'dying-ps', ms)).toMatchObject({ step: 'failed', reason: 'ended' });
    expect(parrot.submitted()).toEqual([]);
    expect((await parrot.screen()).trimEnd()).toMatch(/[#$]$/);
  });
});
