// What the walk through the client's screens needs: a way to look, and ways to wait.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScreenReading } from '../../../src/clients/client.ts';
import { until } from '../../../src/conform/until.ts';
import type { Agent, LaunchOptions } from '../agent.ts';
import type { Scenario } from '../scenario.ts';

/** Takes down the screen together with what is true in this moment. */
export type See = (agent: Agent, name: string, truth: ScreenReading['shows']) => Promise<void>;
export type Launch = (session: string, options?: Partial<LaunchOptions>) => Promise<Agent>;

export interface Act {
  name: string;
  play(launch: Launch, see: See, s: Scenario): Promise<void>;
}

export const words = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `word${from + n}`).join(' ');

const boxed = /^❯\u00a0/m;

export const unboxed = (agent: Agent) => until('the box gone', async () => !boxed.test(await agent.screen()), 5_000);

/** Drawn and not changing any more. */
export async function settled(agent: Agent): Promise<void> {
  let before = '';
  await until('a screen at rest', async () => {
    const now = await agent.screen();
    const same = now === before;
    before = now;
    await sleep(120);
    return same;
  });
}

/** Leaves a dialog; a second key right after the first would open another. */
export async function leave(agent: Agent): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    await agent.keys('Escape');
    const back = until('the box', async () => boxed.test(await agent.screen()), 1_500);
    if (await back.catch(() => false)) break;
  }
  await sleep(900);
}
