// What a person is told of an agent that needs them, on the real client: the same everywhere, with what is asked, since when
// really, and the commands that answer it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { HumanMessage } from '../../src/act/notify/message.ts';
import type { RequestDocument } from '../../src/daemon/requests/table.ts';
import type { StatusDocument } from '../../src/daemon/status.ts';
import { clientOnPath, emptyEnvironment, launchAgent } from './agent.ts';
import { configure } from './prompting.ts';
import { type Scenario, scenario } from './scenario.ts';

type Inbox = RequestDocument<'inbox'>;

const notifyMs = 9_000;
const config = (file: string) => ({
  tickSeconds: 0.5,
  waiting: { notifyMinutes: notifyMs / 60_000, repeatMinutes: 60 },
  agents: [{ match: '*', authority: 'observe' }],
  notify: [{ channel: 'file', type: 'command', command: ['sh', '-c', `cat >> '${file}'; echo >> '${file}'`] }],
});

const text = async (s: Scenario, ...args: string[]) => (await s.watchkeeper(args)).stdout;

test(
  'a permission dialog is the same in status, health, check, inbox, why and the message, and enough to act on',
  scenario(async (s) => {
    const file = path.join(s.dir, 'messages');
    configure(s, JSON.stringify(config(file)));
    expect((await s.watchkeeper(['up', '--detach'])).code).toBe(0);
    const agent = await launchAgent({ scenario: s, session: 'docs-ps', shell: 'bash' });
    await agent.waitReady();
    agent.model.tool('Bash', { command: 'rm -rf build && touch done', description: 'tidy up' });
    await agent.type('tidy up');
    await agent.waitDialog(/Do you want to/);
    const beganMs = agent.registry()?.statusUpdatedAt ?? 0;
    const asked = 'Bash rm -rf build && touch done';

    const early = await s.until('it shows', async () => {
      const status = await s.watchkeeper(['status']);
      return status.stdout.includes('1 needs you: docs-ps') && status.stdout;
    });
    expect(early).toMatch(new RegExp(`waiting \\d+s for you: ${asked}`));
    expect(await text(s, 'inbox')).toContain('nobody was told yet');

    await s.until('people are told', () => existsSync(file) && readFileSync(file, 'utf8').includes('\n'));
    const message = JSON.parse(readFileSync(file, 'utf8')) as HumanMessage;
    const { items } = (await s.watchkeeper(['inbox', '--json'])).json<Inbox>();
    const status = (await s.watchkeeper(['status', '--json'])).json<StatusDocument>();
    const shown = status.agents[0];
    expect(status.needs_you).toEqual(['docs-ps']);
    expect(shown?.asks).toEqual({ tool: 'Bash', text: 'rm -rf build && touch done', source: 'transcript' });
    // Since the beginning of the wait, everywhere.
    const since = [message.since, items[0]?.since, shown?.since, shown?.findings[0]?.since];
    expect(since).toEqual(Array(4).fill(new Date(beganMs).toISOString()));
    expect(message.text).toMatch(/\(for (9|1\d) s, since /);
    for (const where of ['status', 'inbox', 'health', 'check', 'why'])
      expect(
        (await text(s, ...(where === 'why' ? ['why', 'docs-ps'] : [where]))).replaceAll(/\s+/g, ' '),
        where,
      ).toContain(asked);
    expect(message.text).toContain(asked);
    expect(items[0]?.answer_with).toEqual(message.what_to_do);
    // What it says answers it: its screen, then its terminal.
    const [, look = ''] = message.what_to_do;
    expect(shell(s, look)).toContain('Do you want to proceed?');
    await agent.answer(/Do you want to/, '1');
    await s.until('nobody is needed', async () => (await text(s, 'status')).startsWith('nobody needs you'));
    expect(await text(s, 'inbox')).toBe('nobody needs you\n');

    // A turn that is over before anybody looks begins the time at the prompt anew.
    agent.model.reply('quick');
    await s.until('idle for a while', async () => Date.now() - (agent.registry()?.statusUpdatedAt ?? 0) > 4_000);
    const typedMs = Date.now();
    await agent.type('quick');
    const again = await s.until('idle anew', async () => {
      const now = (await s.watchkeeper(['status', '--json'])).json<StatusDocument>().agents[0];
      return now !== undefined && Date.parse(now.last_turn_at ?? '') > typedMs && now.state === 'idle' ? now : null;
    });
    expect(Date.parse(again.since)).toBeGreaterThan(typedMs);
  }),
);

function shell(s: Scenario, command: string): string {
  return execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { ...emptyEnvironment(s.home) } });
}

test(
  'of an agent that was killed everything says so, and its session goes on with the command that is given',
  scenario(async (s) => {
    const file = path.join(s.dir, 'messages');
    configure(s, JSON.stringify(config(file)));
    expect((await s.watchkeeper(['up', '--detach'])).code).toBe(0);
    const agent = await launchAgent({ scenario: s, session: 'dead-ps', shell: 'bash' });
    await agent.waitReady();
    agent.model.reply('Remembered.');
    await agent.type('remember this');
    await s.until('its turn is over', async () => {
      const { agents } = (await s.watchkeeper(['status', '--json'])).json<StatusDocument>();
      return agents[0]?.last_turn === 'ok';
    });
    const session = agent.registry()?.sessionId ?? '';
    agent.kill('SIGKILL');
    await s.until('people are told', () => existsSync(file) && readFileSync(file, 'utf8').includes('\n'));

    const message = JSON.parse(readFileSync(file, 'utf8')) as HumanMessage;
    const { project, configDir } = agent.folder;
    const command = `cd ${project} && CLAUDE_CONFIG_DIR=${configDir} claude --resume ${session}`;
    expect(message.what_to_do).toContain(command);
    expect(message.text).toMatch(/^ended without closing its session, as a killed process does \(\d+ s ago, at 2/);
    expect(await text(s, 'status')).toMatch(/^1 needs you: dead-ps /);
    // A moment after the message is out it is on record.
    await s.until('known to be told', async () =>
      /^dead-ps +ended +.* ended-unexpectedly; you were told/m.test(await text(s, 'status')),
    );
    for (const args of [['inbox'], ['health'], ['check'], ['why', 'dead-ps']])
      expect((await text(s, ...args)).replaceAll(/\s+/g, ' '), args[0]).toContain('without closing its session');
    expect(await text(s, 'inbox')).toContain(`  $ ${command}\n`);
    const refused = await s.watchkeeper(['prompt', 'dead-ps', 'are you there?']);
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^refused: it ended \\d+s ago, at .*goes on with its\\ssession:.*\n  \\$ ${command}\n`),
      ),
    ]);

    // In the shell that is left in its pane, where the client is on the PATH.
    await agent.terminal.paste(`export PATH="${clientOnPath.PATH}"; ${command}`);
    await agent.keys('Enter');
    await s.until('the session goes on', () => agent.pid() !== null && agent.registry()?.sessionId === session);
    await agent.waitForScreen(/Remembered\./);
  }),
);
