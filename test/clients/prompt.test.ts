// Prompts through the CLI alone, arrival judged by the model server's own log; the two hundred are in test/long/.
import { describe, expect, test } from 'vitest';
import { launchAgent } from './agent.ts';
import { refuseEverywhere } from './prompt-refusals.ts';
import { PromptReport } from './prompt-report.ts';
import { converse } from './prompt-states.ts';
import { expectExact, prompts, say } from './prompting.ts';
import { watched } from './watching.ts';

describe('a prompt arrives exactly where it should', () => {
  test(
    'in every state in which an agent can be spoken to: once, byte for byte, with the draft restored',
    watched(async (s, watch) => {
      const report = new PromptReport();
      await converse(s, watch, { name: 'a-ps', shell: 'direct', permissionMode: 'default', sends: 8 }, 10, report);
      expect(report.totals).toMatchObject({ sent: 8, taken: 8, exact: 8, wrong: [], drafts: { there: 1, back: 1 } });
    }),
  );

  test(
    'with its proof and its answer; text that would not arrive as it is is refused',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'demo-ps', shell: 'bash' });
      await agent.waitReady();
      await watch.expect('demo-ps', 'idle', Date.now());
      agent.model.reply('Forty-two.');
      const text = 'What is the answer, with a text of rather more than eighty characters?';
      const said = await say(s, 'demo-ps', text, '--wait', '20');
      expect(said).toMatchObject({ outcome: 'confirmed', code: 0, proof: 'transcript', reason: null });
      expect(said.answer?.text).toBe('Forty-two.');
      await expectExact(agent, text, said.tag);
      const [item] = await prompts(s, 'demo-ps');
      expect(item).toMatchObject({ outcome: 'confirmed', intent: { text, tag: said.tag } });
      for (const unsafe of ['two\nlines', '!ls', '/clear', ' /clear', '  indented', 'cafe\u0301', '👍🏽'])
        expect(await say(s, 'demo-ps', unsafe), unsafe).toMatchObject({ outcome: 'refused', reason: 'unsafe-text' });
      expect(agent.model.turns).toHaveLength(1);
    }),
  );
});

describe('where it could do harm it is refused, and nothing is typed', () => {
  test(
    'in dialogs, menus, modes, under a person, paused, to a shell, a dead pane, another process',
    watched((s, watch) => refuseEverywhere(s, watch, new PromptReport(), 1)),
  );
});
