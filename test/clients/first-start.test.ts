// The first minute: what `up` says before it does anything, and that it does nothing before it said it would.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Agent, launchAgent } from './agent.ts';
import { LookingOn } from './looking-on.ts';
import { tagsOf } from './prompting.ts';
import { type Scenario, scenario } from './scenario.ts';

const goOn = /Please continue with the work/;
const quietMs = 8_000;

/** The file is written before the first start: a start finds how long it is to be quiet. */
function configured(s: Scenario): { WATCHKEEPER_CONFIG: string } {
  const file = path.join(s.home, 'config.yaml');
  const start = { firstQuietSeconds: quietMs / 1_000, quietSeconds: 1 };
  const prompt = { minIntervalMinutes: 0.05, humanQuietSeconds: 0.5 };
  writeFileSync(file, JSON.stringify({ tickSeconds: 0.5, start, prompt }));
  return { WATCHKEEPER_CONFIG: file };
}

/** Its turn was given up after three errors of the service. */
async function stopped(s: Scenario): Promise<Agent> {
  const agent = await launchAgent({ scenario: s, session: 'api-ps', shell: 'bash' });
  await agent.waitReady();
  agent.model.overloaded(3);
  await agent.type('work through the night');
  await agent.waitForScreen(/529/);
  await agent.waitStatus('idle');
  return agent;
}

/** Whoever reads it on 80 columns sees every line as one, each later than the one before. */
function readsWell(up: LookingOn): void {
  for (const { text } of up.lines) {
    expect(text.length, text).toBeLessThanOrEqual(80);
    expect(text).not.toMatch(/\u001b|[0-9a-f]{8}-[0-9a-f]{4}-/);
  }
  const times = up.lines.map(({ text }) => text.slice(0, 8)).filter((time) => /^\d\d:/.test(time));
  expect(times).toEqual(times.toSorted());
}

describe.concurrent('the first minute', () => {
  test(
    'it says whom it may type to and when, types nothing before although a turn stands still, and then says why it does',
    scenario(async (s) => {
      const env = configured(s);
      const agent = await stopped(s);
      const up = new LookingOn(s, [], env);
      try {
        await up.line(/found silent-stop since/);
        const beganMs = (up.lines[0]?.atMs ?? 0) + quietMs;
        expect(up.said).toMatch(/^found 1 agent, in tmux\napi-ps: idle/);
        expect(up.said).toMatch(/may prompt and hand over api-ps \(rule \*-ps: manage, built in\)/);
        expect(up.said).toContain('this is the first start: rules do nothing before');
        expect(up.said).toContain('`watchkeeper pause`');
        await up.line(/api-ps +will prompt it about silent-stop at \d\d:\d\d:\d\d/);
        const why = await s.watchkeeper(['why', 'api-ps', '--json']);
        expect(why.json<{ next: object[] }>().next).toMatchObject([
          { at: expect.any(String), what: expect.stringContaining('then prompt it (silent-stop)') },
        ]);
        expect(tagsOf(agent, goOn).size).toBe(0);
        const said = await up.line(/api-ps +prompted: confirmed, because of silent-stop/);
        expect(said.atMs).toBeGreaterThan(beganMs - 500);
        expect(tagsOf(agent, goOn).size).toBe(1);
        await up.line(/silent-stop is over/);
        readsWell(up);
        if (process.env.SHOW_STREAM) process.stderr.write(`${up.all}\n`);
      } finally {
        await up.stop();
      }
    }),
  );

  test(
    'with --watch-only nothing is typed, also when the configuration is read anew; it says what it would do',
    scenario(async (s) => {
      const env = configured(s);
      const agent = await stopped(s);
      const up = new LookingOn(s, ['--watch-only'], env);
      try {
        await up.line(/api-ps +would prompt it about silent-stop/);
        writeFileSync(env.WATCHKEEPER_CONFIG, JSON.stringify({ tickSeconds: 0.4, mode: 'act' }));
        const status = () => s.watchkeeper(['status', '--json']);
        type Daemon = { daemon: { mode: string; watch_only: boolean; tick_ms: number } };
        await s.until('it is read', async () => (await status()).json<Daemon>().daemon.tick_ms === 400);
        expect((await status()).json()).toMatchObject({ daemon: { mode: 'watch', watch_only: true } });
        const fromMs = Date.now();
        await s.until('a while later', () => Date.now() - fromMs > 3_000);
        expect(tagsOf(agent, goOn).size).toBe(0);
        expect(up.said).toContain('this run only watches (--watch-only)');
        readsWell(up);
        if (process.env.SHOW_STREAM) process.stderr.write(`${up.all}\n`);
      } finally {
        await up.stop();
      }
    }),
  );
});
