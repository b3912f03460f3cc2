// A full context is handed over to a fresh one with nobody there, and the fresh one does what the document says is next.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { launchAgent } from './agent.ts';
import { ended, Handing, makeRepository, wholeWay } from './handing-over.ts';
import { configure } from './prompting.ts';
import { scenario } from './scenario.ts';
import { Watching } from './watching.ts';

test(
  'an agent at 86 percent is handed over: asked, checked, cleared, resumed, and it does the next step',
  scenario(async (s) => {
    const watch = new Watching(s);
    configure(s, JSON.stringify({ tickSeconds: 0.5, handoff: { deadlineMinutes: 1 } }));
    try {
      await watch.start();
      const agent = await launchAgent({ scenario: s, session: 'full-ps', permissionMode: 'auto' });
      await agent.waitReady();
      const model = new Handing(agent);
      model.head = makeRepository(agent.folder.project);
      await s.until('agent', () => watch.status('full-ps'));
      await model.fill(60);
      await watch.turn('full-ps', 'ok', 20_000);
      const before = agent.registry()?.sessionId;
      await model.fill(86);
      const handoff = await ended(s, 'full-ps');
      expect(handoff.steps.map(({ step }) => step)).toEqual(wholeWay);
      expect(handoff).toMatchObject({ step: 'done', reason: null, old_session: before });
      await s.until('the next step', () => existsSync(model.stepFile(1)));
      expect(agent.registry()?.sessionId).toBe(handoff.new_session);
    } finally {
      watch.stop();
    }
  }),
);
