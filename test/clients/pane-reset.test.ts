// A pane whose terminal was reset (`send-keys -R`, the usual key binding for "clear"): tmux forgets that the client
// asked for bracketed paste, and the line breaks of a prompt come without brackets.
import { expect, test } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { launchAgent } from './agent.ts';
import { expectExact, say } from './prompting.ts';
import { watched } from './watching.ts';

test(
  'no line break of a prompt submits what stands before it',
  watched(async (s, watch) => {
    const agent = await launchAgent({ scenario: s, session: 'reset-ps', shell: 'direct' });
    await agent.waitReady();
    await watch.expect('reset-ps', 'idle', Date.now());
    agent.model.behave(() => ({ text: 'ok.' }));
    await s.tmux.run('send-keys', '-R', '-t', agent.terminal.pane ?? '');
    await agent.keys('C-l');
    await until('the box drawn anew', async () => (await agent.screen()).includes('❯'), 10_000);
    const text = 'first line\n/clear\nthird line';
    const said = await say(s, 'reset-ps', text, '--wait', '20');
    expect(said).toMatchObject({ outcome: 'confirmed', code: 0 });
    await expectExact(agent, text, said.tag);
    expect(agent.model.turns).toHaveLength(1);
  }),
);
