// Limits of the service on the real client: what waits by itself is left alone, what was refused is not tried at once.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { limitHeaders } from '../../src/clients/claude-code/conform/limit-headers.ts';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import { type Agent, launchAgent } from '../clients/agent.ts';
import { Daemon } from '../clients/killing.ts';
import { prompts, tagsOf } from '../clients/prompting.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';

const backoffSeconds = 8;
const seventyFour = { input: 10, cacheRead: 730_000, cacheCreate: 9_990 };

type Ready = (env: Record<string, string>) => Promise<Agent>;

function limited(body: (s: Scenario, daemon: Daemon, ready: Ready) => Promise<void>) {
  return scenario(async (s) => {
    const file = path.join(s.home, 'config.yaml');
    const settings = {
      tickSeconds: 0.5,
      prompt: { minIntervalMinutes: 0.01, humanQuietSeconds: 0.5 },
      agents: [{ match: '*-ps', authority: 'nudge' }],
      health: { rate_limit_backoff_seconds: backoffSeconds },
    };
    writeFileSync(file, JSON.stringify(settings));
    const daemon = new Daemon(s, { WATCHKEEPER_CONFIG: file });
    await daemon.up();
    await body(s, daemon, async (env) => {
      const agent = await launchAgent({ scenario: s, session: 'limit-ps', shell: 'bash', env });
      await agent.waitReady();
      await daemon.knows('limit-ps');
      return agent;
    });
  });
}

test(
  'an agent that waits for its usage limit is left to its client, which goes on by itself; then it hears what was due',
  limited(async (s, daemon, ready) => {
    // As a subscriber: only then does the client read when the limit ends.
    const agent = await ready({ ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'dummy' });
    agent.model.usage(seventyFour);
    agent.model.tool('Bash', { command: 'true', description: 'nothing' }, { usage: seventyFour });
    const resets = Math.ceil(Date.now() / 1000) + 20;
    agent.model.error(429, errorBody('rate_limit_error', 'limit'), { headers: limitHeaders(resets) });
    await agent.type('work');
    await s.until('the limit seen', () => daemon.sees('limit-ps', 'limited'));
    daemon.kill();
    await daemon.gone();
    await daemon.up();
    const isOwn = ({ prompt }: { prompt: string }) => /usage limit has reset/.test(prompt);
    const own = await s.until('its client goes on', () => agent.model.turns.find(isOwn), 200_000);
    expect(own.arrivedAt).toBeGreaterThan(resets * 1_000);
    const early = (await prompts(s, 'limit-ps')).filter(({ at }) => Date.parse(at) < own.arrivedAt);
    expect(early).toEqual([]);
    await s.until(
      'the note, which was due all the time',
      () => tagsOf(agent, /context window is \d+% full/).size > 0,
      30_000,
    );
    expect(tagsOf(agent, /Please continue with the work/).size).toBe(0);
  }),
);

test(
  'a turn ended by a plain 429 is gone on with after the back-off, and after twice that where it is refused again',
  limited(async (s, _daemon, ready) => {
    const agent = await ready({});
    const refused = { 'x-should-retry': 'false' };
    const first = agent.model.error(429, errorBody('rate_limit_error', 'limit'), { headers: refused });
    const second = agent.model.error(429, errorBody('rate_limit_error', 'limit'), { headers: refused });
    agent.model.reply('Back at work.');
    await agent.type('work');
    const failedMs = [(await first.ended).endedAt ?? 0, (await second.ended).endedAt ?? 0];
    const said = /Please continue with the work/;
    await s.until('told to go on twice', () => tagsOf(agent, said).size === 2, 60_000);
    const waits = (await prompts(s, 'limit-ps'))
      .filter(({ outcome }) => outcome !== 'refused')
      .map(({ at }, n) => (Date.parse(at) - (failedMs[n] ?? 0)) / 1_000);
    expect(waits).toHaveLength(2);
    for (const [n, waited] of waits.entries()) {
      expect(waited).toBeGreaterThan(backoffSeconds * 2 ** n - 0.5);
      expect(waited).toBeLessThan(backoffSeconds * 2 ** n * 1.5 + 5);
    }
  }),
);
