// An Escape before any output puts what was asked back into the box. That is our own text, nobody's draft.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { launchAgent } from '../clients/agent.ts';
import { ended, Handing } from '../clients/handing-over.ts';
import { configure } from '../clients/prompting.ts';
import { scenario } from '../clients/scenario.ts';
import { Watching } from '../clients/watching.ts';

test(
  'a request that was interrupted before any output is taken out of the box, and the handoff goes on',
  scenario(async (s) => {
    const watch = new Watching(s);
    configure(s, JSON.stringify({ tickSeconds: 0.3, handoff: { deadlineMinutes: 0.25 } }));
    try {
      await watch.start();
      const configDir = path.join(s.dir, 'mute-ps', 'config');
      const agent = await launchAgent({
        scenario: s,
        session: 'mute-ps',
        shell: 'bash',
        permissionMode: 'auto',
        configDir,
      });
      const model = new Handing(agent, ({ asked }) => (asked === 'document' ? { hang: true } : undefined));
      await agent.waitReady(40_000);
      await s.until('mute-ps', () => watch.status('mute-ps'), 20_000);
      await model.fill(86);
      const handoff = await ended(s, 'mute-ps', 1, 120_000);
      expect(handoff, JSON.stringify(handoff)).toMatchObject({ step: 'done', reason: null });
      await s.until('the next step', () => existsSync(model.stepFile(1)), 20_000);
      const ledger = (await s.watchkeeper(['audit', '--json'])).json<{ items: Item[] }>().items;
      const deeds = ledger.filter(({ outcome }) => outcome !== 'refused').map(({ intent }) => intent.deed);
      expect(deeds.sort()).toEqual(['ask', 'ask', 'clear', 'interrupt', 'resume']);
    } finally {
      watch.stop();
    }
  }),
  300_000,
);

interface Item {
  outcome: string | null;
  intent: { deed?: string };
}
