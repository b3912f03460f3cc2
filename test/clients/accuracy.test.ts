// What the findings on the real client were worth, by how they ended.
import { expect, test } from 'vitest';
import type { AccuracyDocument } from '../../src/findings/accuracy.ts';
import { launchAgent } from './agent.ts';
import { configure } from './prompting.ts';
import { type Scenario, scenario } from './scenario.ts';

type Item = AccuracyDocument['items'][number];

/** Minutes shortened to seconds. */
const config = JSON.stringify({
  tickSeconds: 0.5,
  prompt: { minIntervalMinutes: 0.05, humanQuietSeconds: 1 },
  waiting: { notifyMinutes: 0.02, repeatMinutes: 60 },
});

async function record(s: Scenario, check: string): Promise<Item | null> {
  const { items } = (await s.watchkeeper(['accuracy', '--json'])).json<AccuracyDocument>();
  return items.find((item) => item.check === check) ?? null;
}

function right(s: Scenario, check: string): Promise<Item> {
  const look = async () => {
    const item = await record(s, check);
    return item !== null && item.right > 0 ? item : null;
  };
  return s.until(`${check} was right`, look, 30_000);
}

test(
  'a dialog that a person answered, a failed turn that the rule continued and a killed agent were all found rightly',
  scenario(async (s) => {
    configure(s, config);
    expect((await s.watchkeeper(['up', '--detach'])).code).toBe(0);

    const asking = await launchAgent({ scenario: s, session: 'ask-ps', shell: 'sh' });
    await asking.waitReady();
    asking.model.tool('Bash', { command: 'touch made', description: 'make a file' });
    await asking.type('make a file');
    await asking.waitDialog(/Do you want to/);

    const failing = await launchAgent({ scenario: s, session: 'night-ps', shell: 'bash' });
    await failing.waitReady();
    failing.model.overloaded(3);
    failing.model.reply('Back at work.');
    await failing.type('work through the night');

    await s.until('somebody is asked for', async () => (await record(s, 'waiting-human'))?.open === 1, 30_000);
    await asking.keys('Enter');
    expect((await right(s, 'waiting-human')).endings).toEqual({ 'human-answered': 1 });
    expect((await right(s, 'silent-stop')).endings).toEqual({ 'prompt-helped': 1 });

    asking.kill('SIGKILL');
    expect(await right(s, 'ended-unexpectedly')).toMatchObject({ raised: 1, n: 1, precision: 1 });
    expect((await s.watchkeeper(['accuracy'])).stdout).toMatch(/silent-stop +1 +1 +0 +0 +0 +1\.00 \(/);
  }),
);
