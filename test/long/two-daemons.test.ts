// A daemon that hangs is replaced by another one, and when it comes back it has nobody any more.
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { openStandIn } from '../system/stand-in.ts';
import { testWorld, World } from '../system/world.ts';

it('who has hung for 30 s has lost its agent, and does nothing more to it when it goes on', async () => {
  const world = await testWorld();
  const second = new World(world.scenario);
  second.env = { WATCHKEEPER_HOME: path.join(world.dir, 'second') };
  onTestFinished(async () => void (await second.run('down')));
  await openStandIn(world, 'worker-ps');
  await world.up();
  await second.up();
  const holdOf = async (daemon: World) => (await daemon.agent('worker-ps'))?.hold;
  expect([(await holdOf(world))?.by, (await holdOf(second))?.by]).toEqual(['us', 'other']);

  const pid = world.daemonPid();
  process.kill(pid, 'SIGSTOP');
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It was stopped in good order.
    }
  });
  const stoppedMs = performance.now();
  await until('the other one has it', async () => (await holdOf(second))?.by === 'us', 60_000);
  // Renewed up to five seconds before it was stopped.
  expect(performance.now() - stoppedMs).toBeGreaterThan(24_000);
  expect(await holdOf(second)).toMatchObject({ number: 2 });

  process.kill(pid, 'SIGCONT');
  const said = await world.run('prompt', 'worker-ps', 'continue');
  expect([said.code, said.stdout]).toEqual([1, expect.stringContaining('held-elsewhere')]);
  expect(await holdOf(world)).toMatchObject({ by: 'other', pid: second.daemonPid() });
  expect(world.log()).toContain('worker-ps is held by another Watchkeeper');
});
