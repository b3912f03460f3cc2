// A full context is handed over to a fresh one with nobody there, and the fresh one does what the document says is next.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Agent, clientOnPath, launchAgent } from './agent.ts';
import { ended, Handing, handoffs, makeRepository, wholeWay } from './handing-over.ts';
import { configure } from './prompting.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Rows } from './spawning.ts';
import { Watching } from './watching.ts';

/** Directly started and under a shell, in auto and in manual permission mode, with and without a repository. */
const kinds = [
  { session: 'auto-ps', shell: 'direct', permissionMode: 'auto', times: 3 },
  { session: 'bash-ps', shell: 'bash', permissionMode: 'auto', times: 3 },
  { session: 'sh-ps', shell: 'sh', permissionMode: 'default', times: 2 },
  { session: 'manual-ps', shell: 'direct', permissionMode: 'default', times: 2 },
] as const;

async function start(s: Scenario, { session, shell, permissionMode }: (typeof kinds)[number]): Promise<Agent> {
  const configDir = path.join(s.dir, session, 'config');
  const manual = permissionMode === 'default';
  return launchAgent({
    scenario: s,
    session,
    shell,
    permissionMode,
    configDir,
    // In manual mode the next step may be done; that the document may be written is Watchkeeper's doing alone.
    ...(manual ? { extraSettings: { permissions: { allow: ['Bash(touch:*)'] } } } : {}),
    prepared: async () => {
      if (!manual) return;
      const done = await s.watchkeeper(['init', '--config-dir', configDir], { env: clientOnPath });
      expect(done.code, done.stderr).toBe(0);
    },
  });
}

test(
  'four agents, ten handoffs: asked, checked, cleared, resumed, and each does the next step of its document',
  scenario(async (s) => {
    const watch = new Watching(s);
    const rows = new Rows(s);
    configure(s, JSON.stringify({ tickSeconds: 0.3, handoff: { deadlineMinutes: 2 } }));
    try {
      await watch.start();
      const agents = await Promise.all(kinds.map((kind) => start(s, kind)));
      const models = agents.map((agent) => new Handing(agent));
      for (const agent of agents) await agent.waitReady(40_000);
      for (const { session } of kinds) await s.until(session, () => watch.status(session), 20_000);
      const tracked = ['--project', 'sh', '--task-id', 'nightly', '--output', path.join(s.dir, 'nightly.log')];
      expect((await s.watchkeeper(['spawn-track', 'add', ...tracked])).code).toBe(0);
      const [first] = models;
      if (first !== undefined) first.head = makeRepository(first.agent.folder.project);
      await Promise.all(
        models.map(async (model, index) => {
          const { session, times } = kinds[index] ?? kinds[0];
          for (let n = 1; n <= times; n += 1) {
            const before = model.agent.registry()?.sessionId;
            // Mostly by the rule; the last one of each because somebody wants it.
            await model.fill(n < times ? 86 : 40);
            if (n === times) await byHand(s, model.agent);
            const handoff = await ended(s, session, n, 90_000);
            expect(handoff.trigger, session).toBe(n < times ? 'rule:at-percent' : 'human');
            expect(
              handoff.steps.map(({ step }) => step),
              session,
            ).toEqual(wholeWay);
            expect(handoff, session).toMatchObject({ step: 'done', reason: null, old_session: before });
            await s.until(`the next step of ${session}`, () => existsSync(model.stepFile(n)), 20_000);
            await model.agent.waitStatus('idle', 20_000);
            expect(model.agent.registry()?.sessionId, session).toBe(handoff.new_session);
          }
        }),
      );
      const all = await handoffs(s);
      expect(all.map(({ step }) => step)).toEqual(Array<string>(10).fill('done'));
      // Each was asked once for each of its documents, and nothing else was ever typed.
      const ledger = (await s.watchkeeper(['audit', '--json'])).json<{ items: Item[] }>().items;
      const deeds = ledger.filter(({ outcome }) => outcome !== 'refused').map(({ intent }) => intent.deed);
      for (const deed of ['ask', 'clear', 'resume'])
        expect(deeds.filter((each) => each === deed).length, deed).toBe(10);
      expect(ledger.every(({ trigger }) => trigger === 'handoff')).toBe(true);
      // What somebody tracked for one of them was asked for by its name, and belongs to its last session.
      const asks = ledger.filter(({ outcome, intent }) => outcome !== 'refused' && intent.deed === 'ask');
      const named = asks.filter(({ intent }) => intent.text?.includes('running now: “nightly”)'));
      expect(named.map(({ agent }) => agent)).toEqual(['sh-ps', 'sh-ps']);
      expect(await rows.spawns('sh')).toMatchObject([
        {
          task_id: 'nightly',
          status: 'running',
          session_id: all.findLast(({ agent }) => agent === 'sh-ps')?.new_session,
        },
      ]);
      expect(await rows.checks('sh', 'orphaned_work')).toEqual([]);
      const accept = await s.watchkeeper(['can-accept', 'auto-ps', '--size', 'large', '--json']);
      expect(accept.json()).toMatchObject({ accept: true, handoff: 'none' });
    } finally {
      await rows.close();
      watch.stop();
    }
  }),
  300_000,
);

/** Before its own turn is over: it is waited for. */
async function byHand(s: Scenario, agent: Agent): Promise<void> {
  const said = await s.watchkeeper(['handoff', agent.session, '--wait', '50', '--json']);
  expect(said.code, `${agent.session}: ${said.stdout}`).toBe(0);
}

interface Item {
  kind: string;
  trigger: string;
  agent: string;
  outcome: string | null;
  intent: { deed?: string; text?: string };
}
