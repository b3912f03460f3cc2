// Two daemons with homes of their own, and a database each, watch one real client that fails: what reaches the model and
// the person is as from one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import type { StatusDocument } from '../../src/daemon/status.ts';
import { launchAgent } from './agent.ts';
import { scenario } from './scenario.ts';

test(
  'two daemons and a check continue a failing agent as often as one would, and call a person once; killed, the other one goes on',
  scenario(async (s) => {
    const told = path.join(s.dir, 'told');
    const program = path.join(s.dir, 'tell');
    writeFileSync(program, `#!/bin/sh\ncat >>${told}; echo >>${told}\n`, { mode: 0o700 });
    const config = path.join(s.dir, 'config.yaml');
    writeFileSync(
      config,
      JSON.stringify({
        tickSeconds: 0.5,
        prompt: { minIntervalMinutes: 0.04, humanQuietSeconds: 1 },
        waiting: { repeatMinutes: 600 },
        notify: [{ channel: 'ops', type: 'command', command: [program] }],
      }),
    );
    const messages = () =>
      existsSync(told)
        ? readFileSync(told, 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => (JSON.parse(line) as { check: string }).check)
        : [];
    const homes = ['one', 'two'].map((name) => ({
      WATCHKEEPER_HOME: path.join(s.dir, name),
      WATCHKEEPER_CONFIG: config,
    }));
    const run = (which: number, ...args: string[]) => s.watchkeeper(args, { env: homes[which] ?? {} });
    const heldBy = async (which: number) => {
      const { agents } = (await run(which, 'status', '--json')).json<StatusDocument>();
      return agents.find(({ agent }) => agent === 'down-ps')?.hold.by;
    };
    try {
      expect((await run(0, 'up', '--detach')).code).toBe(0);
      expect((await run(1, 'up', '--detach')).code).toBe(0);
      const agent = await launchAgent({ scenario: s, session: 'down-ps', shell: 'bash' });
      await agent.waitReady();
      const by = () => Promise.all([heldBy(0), heldBy(1)]);
      await s.until('both see it', async () => !(await by()).some((who) => who === undefined || who === 'nobody'));
      expect((await by()).toSorted()).toEqual(['other', 'us']);
      const holder = (await heldBy(0)) === 'us' ? 0 : 1;
      const observer = 1 - holder;

      const prompts = () => new Set(agent.model.turns.flatMap(({ prompt }) => prompt.match(/\[wk-\w+\]/g) ?? []));
      agent.model.error(529, errorBody('overloaded_error', 'Overloaded'), { times: 500 });
      await agent.type('work');
      // The ladder: three times, then a person.
      await s.until('a person is called', () => messages().length > 0, 90_000);
      expect(prompts().size).toBe(3);
      expect(await agent.screen()).not.toMatch(/❯\u00a0\S/);
      // As from cron, while both go on.
      const said = await run(observer, 'prompt', 'down-ps', 'continue');
      expect([said.code, said.stdout]).toEqual([1, expect.stringContaining('held-elsewhere')]);
      expect([messages(), prompts().size]).toEqual([['silent-stop'], 3]);

      const { WATCHKEEPER_HOME: home } = homes[holder] ?? {};
      process.kill(
        (JSON.parse(readFileSync(path.join(home ?? '', 'daemon.json'), 'utf8')) as { pid: number }).pid,
        'SIGKILL',
      );
      await s.until('the other one has it', async () => (await heldBy(observer)) === 'us', 20_000);
      await s.until('and goes on', () => prompts().size === 4, 30_000);
    } finally {
      await Promise.all([run(0, 'down'), run(1, 'down')]);
    }
  }),
);
