// Prompts through the CLI alone, arrival judged by the model server's own log.
import { describe, expect, test } from 'vitest';
import type { PromptResult } from '../../src/run/prompter.ts';
import { type Agent, launchAgent } from './agent.ts';
import type { Scenario } from './scenario.ts';
import { watched } from './watching.ts';

/** Every text of a user that reached the model, whole. */
function arrived(agent: Agent): string[] {
  const texts: string[] = [];
  const last = agent.model.turns.at(-1)?.body.messages as { role: string; content: unknown }[] | undefined;
  for (const message of last ?? []) {
    if (message.role !== 'user') continue;
    if (typeof message.content === 'string') texts.push(message.content);
    else for (const part of message.content as { type: string; text?: string }[]) texts.push(part.text ?? '');
  }
  return texts;
}

function timesArrived(agent: Agent, text: string): number {
  return arrived(agent).join('\u0001').split(text).length - 1;
}

async function say(
  s: Scenario,
  agent: string,
  text: string,
  ...args: string[]
): Promise<PromptResult & { code: number }> {
  const result = await s.watchkeeper(['prompt', agent, '-', '--json', ...args], { stdin: text });
  return { ...result.json<PromptResult>(), code: result.code };
}

async function expectExact(s: Scenario, agent: Agent, text: string, tag: string): Promise<void> {
  await s.until(`"${text.slice(0, 30)}" at the model`, () => timesArrived(agent, `${text} [${tag}]`) === 1);
}

describe('a prompt arrives exactly where it should', () => {
  test(
    'at an idle agent: once, whole, with proof and its answer',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'demo-ps' });
      await agent.waitReady();
      await watch.expect('demo-ps', 'idle', Date.now());
      agent.model.reply('Forty-two.');
      const said = await say(
        s,
        'demo-ps',
        'What is the answer, with a text of rather more than eighty characters?',
        '--wait',
        '20',
      );
      expect(said).toMatchObject({ outcome: 'confirmed', code: 0, proof: 'transcript', reason: null });
      expect(said.answer?.text).toBe('Forty-two.');
      await expectExact(s, agent, 'What is the answer, with a text of rather more than eighty characters?', said.tag);
      const multi = await say(
        s,
        'demo-ps',
        Array.from({ length: 200 }, (_, line) => `line ${line} grüße 日本 🎉 "$HOME"`).join('\n'),
        '--wait',
        '20',
      );
      expect(multi).toMatchObject({ outcome: 'confirmed', code: 0 });
      await expectExact(
        s,
        agent,
        Array.from({ length: 200 }, (_, line) => `line ${line} grüße 日本 🎉 "$HOME"`).join('\n'),
        multi.tag,
      );
    }),
  );

  test(
    'at a busy agent, over a draft, in copy mode: once, whole, and the draft comes back',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'busy-ps', shell: 'bash' });
      await agent.waitReady();
      await watch.expect('busy-ps', 'idle', Date.now());
      const long = agent.model.hold();
      await agent.type('talk');
      await long.arrived;
      const queued = await say(s, 'busy-ps', 'queued behind a running turn');
      expect(queued).toMatchObject({ outcome: 'queued', code: 0 });
      const second = await say(s, 'busy-ps', 'and another one behind that');
      expect(second).toMatchObject({ outcome: 'queued', code: 0 });
      long.release();
      await expectExact(s, agent, 'queued behind a running turn', queued.tag);
      await expectExact(s, agent, 'and another one behind that', second.tag);
      await agent.waitStatus('idle');

      await agent.draft('my half typed thought');
      const over = await say(s, 'busy-ps', 'said over a draft');
      expect(over).toMatchObject({ outcome: 'confirmed', code: 0 });
      await expectExact(s, agent, 'said over a draft', over.tag);
      await agent.waitForScreen(/❯\s+my half typed thought/);
      await agent.keys('C-u');

      await s.tmux.run('copy-mode', '-t', agent.terminal.pane ?? '');
      const copy = await say(s, 'busy-ps', 'said in copy mode');
      expect(copy).toMatchObject({ outcome: 'confirmed', code: 0 });
      await expectExact(s, agent, 'said in copy mode', copy.tag);

      const lines = await say(s, 'busy-ps', 'two\nlines');
      expect(lines).toMatchObject({ outcome: 'refused', reason: 'unsafe-text', code: 1 });
    }),
  );
});

describe('where it could do harm it is refused, and nothing is typed', () => {
  test(
    'in dialogs, to an observed agent, synchronised, paused, to a shell',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'wait-ps', shell: 'sh' });
      await agent.waitReady();
      await watch.expect('wait-ps', 'idle', Date.now());
      const pane = agent.terminal.pane ?? '';
      agent.model.tool('Bash', { command: 'touch made-by-dialog', description: 'make a file' });
      await agent.type('make a file');
      await agent.waitDialog(/Do you want to/);
      expect(await say(s, 'wait-ps', 'no')).toMatchObject({
        outcome: 'refused',
        reason: 'waiting-permission',
        code: 1,
      });
      await agent.keys('Escape');
      await agent.waitStatus('idle');

      agent.model.question('Which?', ['a', 'b']);
      await agent.type('ask me');
      await agent.waitDialog(/Which\?/);
      expect(await say(s, 'wait-ps', 'no')).toMatchObject({ outcome: 'refused', reason: 'waiting-question', code: 1 });
      await agent.keys('Escape');
      await agent.waitStatus('idle');

      await s.tmux.run('set-option', '-w', '-t', pane, 'synchronize-panes', 'on');
      expect(await say(s, 'wait-ps', 'no')).toMatchObject({ outcome: 'refused', reason: 'synchronized' });
      await s.tmux.run('set-option', '-w', '-t', pane, 'synchronize-panes', 'off');

      await s.watchkeeper(['pause', '--reason', 'test']);
      expect(await say(s, 'wait-ps', 'no')).toMatchObject({ outcome: 'refused', reason: 'paused' });
      await s.watchkeeper(['unpause']);

      const before = agent.model.turns.length;
      agent.kill('SIGSTOP');
      expect(await say(s, 'wait-ps', 'no')).toMatchObject({ outcome: 'refused', reason: 'not-agent' });
      agent.kill('SIGCONT');
      expect(agent.model.turns.length).toBe(before);
      expect(timesArrived(agent, 'no [wk-')).toBe(0);

      const other = await launchAgent({ scenario: s, session: 'other' });
      await other.waitReady();
      await watch.expect('other', 'idle', Date.now());
      expect(await say(s, 'other', 'hello')).toMatchObject({ outcome: 'refused', reason: 'authority' });
      const prompts = (await s.watchkeeper(['prompts', '--json'])).json<{
        items: { outcome: string; reason: string }[];
      }>();
      expect(prompts.items.map((item) => item.reason)).toEqual([
        'waiting-permission',
        'waiting-question',
        'synchronized',
        'paused',
        'not-agent',
        'authority',
      ]);
    }),
  );
});
