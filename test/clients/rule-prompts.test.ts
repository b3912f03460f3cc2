// What rules say to the real client: work that stands still is set going first, and nothing is said twice.
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Agent, launchAgent } from './agent.ts';
import { Daemon, killAfter, killBefore } from './killing.ts';
import { prompts, tagsOf } from './prompting.ts';
import { type Scenario, scenario } from './scenario.ts';

/** Minutes shortened to seconds. Prompted, but not managed: no handoff begins. */
const settings = {
  tickSeconds: 0.5,
  prompt: { minIntervalMinutes: 0.05, humanQuietSeconds: 0.5 },
  agents: [{ match: '*-ps', authority: 'nudge' }],
};

async function started(s: Scenario): Promise<Daemon> {
  const file = path.join(s.home, 'config.yaml');
  writeFileSync(file, JSON.stringify(settings));
  const daemon = new Daemon(s, { WATCHKEEPER_CONFIG: file });
  await daemon.up();
  return daemon;
}

async function ready(s: Scenario, daemon: Daemon, session: string, shell: 'bash' | 'sh' | 'direct'): Promise<Agent> {
  const agent = await launchAgent({ scenario: s, session, shell, extraSettings: { permissions: { allow: ['Bash'] } } });
  await agent.waitReady();
  await daemon.knows(session);
  return agent;
}

const seventyFour = { input: 10, cacheRead: 730_000, cacheCreate: 9_990 };
const full = /context window is \d+% full/;
const goOn = /Please continue with the work/;

/** There is one when its work was taken up. */
function workOf(agent: Agent): string {
  return path.join(agent.folder.project, 'work-done');
}

/** Long enough for whatever would be said once more. */
async function stays(s: Scenario, ms: number): Promise<void> {
  const fromMs = Date.now();
  await s.until('a while later', () => Date.now() - fromMs > ms);
}

describe.concurrent('rules', () => {
  test(
    'errors of the service end a turn at 74 % of the context: its work goes on, three times of three',
    scenario(async (s) => {
      const daemon = await started(s);
      const names = ['one-ps', 'two-ps', 'three-ps'] as const;
      const agents = await Promise.all(
        names.map((name, n) => ready(s, daemon, name, (['bash', 'sh', 'direct'] as const)[n] ?? 'bash')),
      );
      for (const agent of agents) {
        const file = workOf(agent);
        agent.model.usage(seventyFour);
        // It answers what it is asked, and nothing else: work is done only by one that is told to go on.
        agent.model.behave(({ text }) =>
          goOn.test(text) && !existsSync(file)
            ? { tools: [{ name: 'Bash', input: { command: `touch ${file}`, description: 'work' } }] }
            : { text: 'Noted.' },
        );
        agent.model.tool('Bash', { command: 'true' }, { usage: seventyFour });
        agent.model.overloaded(3);
      }
      await Promise.all(agents.map((agent) => agent.type('work through the night')));
      for (const agent of agents) {
        await s.until(`${agent.session} at work again`, () => existsSync(workOf(agent)), 60_000);
      }
      await stays(s, 6_500);
      for (const agent of agents) {
        // One prompt for both, and neither was said again.
        const [tag, ...more] = tagsOf(agent, goOn);
        expect([...tagsOf(agent, full)], agent.session).toEqual([tag]);
        expect(more, agent.session).toEqual([]);
        const rows = (await prompts(s, agent.session)).filter(({ outcome }) => outcome !== 'refused');
        expect(rows, agent.session).toMatchObject([
          { intent: { tag, findings: [expect.any(String), expect.any(String)] } },
        ]);
      }
    }),
  );

  test.each([
    ['right after Enter', (s: Scenario, daemon: Daemon) => killAfter(s, daemon, 'send-keys')],
    [
      'before what came of it is on record',
      async (s: Scenario, daemon: Daemon) =>
        killBefore(s, daemon, ['INSERT INTO actions ', 'INSERT INTO action_outcomes']),
    ],
  ] as const)('killed %s, it does not say the same again', (_when, kill) =>
    scenario(async (s) => {
      const daemon = await started(s);
      const agent = await ready(s, daemon, 'full-ps', 'bash');
      agent.model.usage(seventyFour);
      const turn = agent.model.hold();
      await agent.type('use the context');
      await turn.arrived;
      // From here on only the daemon types.
      const killing = await kill(s, daemon);
      turn.release();
      await killing.done(30_000);
      await daemon.up();
      await s.until('the note at the model', () => tagsOf(agent, full).size > 0);
      // More than two intervals.
      await stays(s, 6_500);
      expect(tagsOf(agent, full).size).toBe(1);
    })(),
  );
});
