// Troubles that the client's own record names, on the real client: what is shown, and who is told.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { limitHeaders } from '../../src/clients/claude-code/conform/limit-headers.ts';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import { launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Watching } from './watching.ts';

interface Health {
  findings: { check: string; evidence: { text: string }[] }[];
}

async function checksOf(s: Scenario, name: string): Promise<string[]> {
  const health = (await s.watchkeeper(['health', name, '--json'])).json<Health>();
  return health.findings.map(({ check }) => check);
}

/** By which rules a human was told, or the agent prompted. */
async function done(s: Scenario, name: string | null): Promise<string[]> {
  const audit = await s.watchkeeper(['audit', ...(name === null ? [] : [name]), '--json']);
  return audit
    .json<{ items: { kind: string; trigger: string }[] }>()
    .items.map((item) => `${item.kind} ${item.trigger}`);
}

async function nextOf(s: Scenario, name: string): Promise<string> {
  const why = (await s.watchkeeper(['why', name, '--json'])).json<{ next: { what: string }[] }>();
  return why.next.map(({ what }) => what).join('; ');
}

test(
  'a login not accepted, a 429, a missing word of completion, and three agents killed at once',
  scenario(async (s) => {
    const config = {
      tickSeconds: 0.5,
      agents: [{ match: '*', authority: 'observe' }],
      judging: { completion: [{ match: 'task-ps' }], completionMinutes: 0.02 },
    };
    const file = path.join(s.home, 'config.yaml');
    writeFileSync(file, JSON.stringify(config));
    const watch = new Watching(s);
    try {
      await watch.start([], { WATCHKEEPER_CONFIG: file });
      // As a subscriber: with a key of its own the client tries a 401 for minutes.
      const subscriber = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'dummy' };
      const ready = async (session: string, shell: 'bash' | 'sh' | 'direct', env: Record<string, string>) => {
        const agent = await launchAgent({ scenario: s, session, shell, env });
        await agent.waitReady();
        await watch.expect(session, 'idle', Date.now(), 30_000);
        return agent;
      };
      const agents = await Promise.all([
        ready('login-ps', 'bash', subscriber),
        ready('busy-ps', 'sh', {}),
        ready('task-ps', 'direct', {}),
      ]);
      const [login, busy, task] = agents;

      login.model.error(401, errorBody('authentication_error', 'invalid x-api-key'), { times: 12 });
      await login.type('work');
      await s.until(
        'the login in `health`',
        async () => (await checksOf(s, 'login-ps')).includes('auth-failed'),
        30_000,
      );
      await s.until('a human told', async () => (await done(s, 'login-ps')).length > 0, 20_000);
      await s.until('the other incident left to it', async () =>
        (await nextOf(s, 'login-ps')).includes('people are told about it by auth-failed'),
      );
      expect(await done(s, 'login-ps')).toEqual(['notify rule:auth-failed']);

      // With a key the client does not read when the limit ends, and gives up.
      const headers = { ...limitHeaders(Math.floor(Date.now() / 1000) + 3_600), 'x-should-retry': 'false' };
      busy.model.error(429, errorBody('rate_limit_error', 'limit'), { times: 12, headers });
      await busy.type('work');
      await s.until('the 429 in `health`', async () => (await checksOf(s, 'busy-ps')).includes('rate-limited'), 60_000);

      task.model.reply('I think that is all: 429, rate limit, Error: authentication_failed.');
      await task.type('do it');
      await watch.turn('task-ps', 'ok', 20_000);
      await s.until('the missing word in `health`', async () => (await checksOf(s, 'task-ps')).length > 0, 20_000);
      expect(await checksOf(s, 'task-ps')).toEqual(['completion-missing']);
      task.model.reply('Now it is done. <promise>COMPLETE</promise>');
      await task.type('do it again');
      await s.until(
        'the word said',
        async () => (await watch.status('task-ps'))?.state === 'idle' && task.model.turns.length === 2,
        20_000,
      );
      await s.until('nothing missing', async () => (await checksOf(s, 'task-ps')).length === 0, 20_000);
      expect(await done(s, 'task-ps')).toEqual([]);

      for (const agent of agents) agent.kill('SIGKILL');
      await s.until('the host told', async () => (await done(s, null)).includes('notify rule:mass-failure'), 30_000);
      for (const { session } of agents) {
        await s.until('it is one of many', async () => (await nextOf(s, session)).includes('as one of many'));
        expect(await done(s, session)).not.toContain('notify rule:ended-unexpectedly');
      }
      const told = (await done(s, null)).filter((what) => what.includes('mass-failure'));
      expect(told).toHaveLength(1);
      const health = (await s.watchkeeper(['health', '--json'])).json<Health>();
      expect(health.findings).toMatchObject([{ check: 'mass-failure' }]);
      expect(health.findings[0]?.evidence[0]?.text).toContain('3 of 3 agents at once: ended-unexpectedly');
    } finally {
      watch.stop();
    }
  }),
);
