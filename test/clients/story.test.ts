// The whole thing as a stranger meets it: the README's command in one terminal, Claude Code in tmux, the CLI in another.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { emptyEnvironment, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** `npm start` as it stands in the README, in a process group of its own, like a terminal's. */
function npmStart(s: Scenario) {
  const env = { ...emptyEnvironment(s.home), WATCHKEEPER_HOME: s.watchkeeperHome, TMUX_TMPDIR: s.tmux.tmpdir };
  const child = spawn('npm', ['start'], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return {
    output: () => output,
    /** To the whole group, as a terminal does. npm ends itself by the signal once its child has ended well. */
    async ctrlC(): Promise<number | string | null> {
      const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
      process.kill(-(child.pid ?? 0), 'SIGINT');
      const [code, signal] = await ended;
      return code ?? signal;
    },
  };
}

test(
  'a stranger runs the two commands, starts Claude Code in demo-ps, and sees it appear, work, wait and end',
  scenario(async (s) => {
    const terminal = npmStart(s);
    await s.until('npm start to be watching', () => terminal.output().includes('watching'), 30_000);
    const empty = await s.watchkeeper(['status']);
    expect(empty.stdout).toContain('no agent yet');

    const agent = await launchAgent({ scenario: s, session: 'demo-ps', shell: 'bash' });
    await agent.waitReady();
    await s.until('it appears', () => /demo-ps +found, (idle|works)/.test(terminal.output()));
    await s.until('status shows it', async () => /demo-ps +idle/.test((await s.watchkeeper(['status'])).stdout));

    const thinking = agent.model.hold();
    await agent.type('work, please');
    await thinking.arrived;
    await s.until('it works', async () => /demo-ps +working\/thinking/.test((await s.watchkeeper(['status'])).stdout));
    thinking.release();
    await s.until('it is done', async () => /demo-ps +idle .* ok /.test((await s.watchkeeper(['status'])).stdout));

    agent.model.tool('Bash', { command: 'touch made-by-agent', description: 'make a file' });
    await agent.type('make a file');
    await agent.waitDialog(/Do you want to/);
    await s.until('it waits', async () =>
      /demo-ps +waiting\/permission/.test((await s.watchkeeper(['status'])).stdout),
    );
    expect((await s.watchkeeper(['health', 'demo-ps', '--json'])).json()).toMatchObject({
      agent: 'demo-ps',
      state: 'waiting',
      detail: 'permission',
    });
    await agent.keys('Enter');
    await s.until('it goes on', async () => /demo-ps +idle/.test((await s.watchkeeper(['status'])).stdout));

    await agent.exit();
    await s.until('it ended', async () => /demo-ps +ended/.test((await s.watchkeeper(['status'])).stdout));
    const events = (await s.watchkeeper(['events', 'demo-ps', '--json', '-n', '1000'])).stdout.trim().split('\n');
    const states = events
      .map((line) => JSON.parse(line) as { kind: string; data: { state: string; detail: string | null } })
      .filter((event) => event.kind === 'state')
      .map(({ data }) => (data.detail === null ? data.state : `${data.state}/${data.detail}`));
    for (const state of ['idle', 'working/thinking', 'waiting/permission', 'ended']) expect(states).toContain(state);
    expect((await s.watchkeeper(['doctor'])).code).toBe(0);

    expect(await terminal.ctrlC()).toBeOneOf([0, 'SIGINT']);
    expect(terminal.output()).toContain('stopped');
    expect((await s.watchkeeper(['status'])).code).toBe(3);
    expect((await s.watchkeeper(['down'])).code).toBe(0);
  }),
);
