// What a person is told of an agent that needs them, on the real client: the same everywhere, with what is asked, since when
// really, and the commands that answer it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { HumanMessage } from '../../src/act/notify/message.ts';
import { openPane } from '../../src/conform/terminal.ts';
import type { RequestDocument } from '../../src/daemon/requests/table.ts';
import type { StatusDocument } from '../../src/daemon/status.ts';
import { emptyEnvironment, launchAgent } from './agent.ts';
import { configure } from './prompting.ts';
import { type Scenario, scenario, watchkeeperProgram } from './scenario.ts';

type Inbox = RequestDocument<'inbox'>;

const notifyMs = 9_000;
const config = (file: string) => ({
  tickSeconds: 0.5,
  waiting: { notifyMinutes: notifyMs / 60_000, repeatMinutes: 60 },
  agents: [{ match: '*', authority: 'observe' }],
  notify: [{ channel: 'file', type: 'command', command: ['sh', '-c', `cat >> '${file}'; echo >> '${file}'`] }],
});

/** What one reads on a terminal of this width. */
async function onTerminal(s: Scenario, columns: number, ...args: string[]): Promise<string> {
  const env = { ...emptyEnvironment(s.home), WATCHKEEPER_HOME: s.watchkeeperHome, NO_COLOR: '1' };
  const words = [process.execPath, watchkeeperProgram, ...args].map((word) => `'${word}'`).join(' ');
  const command = { argv: ['sh', '-c', `${words} 2>&1; echo; echo '(end)'; exec sleep 60`], cwd: s.dir, env };
  const pane = await openPane(s.tmux, `read-${columns}-${args.join('-')}`, command, 'direct', null, {
    columns,
    rows: 50,
  });
  let screen = '';
  await s.until('the command is done', async () => {
    screen = await pane.screen();
    return screen.includes('(end)');
  });
  return screen.slice(0, screen.indexOf('(end)')).trimEnd();
}

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
    console.log(
      await onTerminal(s, 80, 'status'),
      '\n\n',
      await onTerminal(s, 80, 'inbox'),
      '\n\n',
      message,
      await onTerminal(s, 40, 'status'),
    );

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
      console.log(now?.state, now?.since, now?.last_turn_at, JSON.stringify(agent.registry()));
      return now !== undefined && Date.parse(now.last_turn_at ?? '') > typedMs && now.state === 'idle' ? now : null;
    });
    expect(Date.parse(again.since)).toBeGreaterThan(typedMs);
  }),
);

function shell(s: Scenario, command: string): string {
  return execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { ...emptyEnvironment(s.home) } });
}
