// Every state in which a prompt could do harm: it has to be refused, and neither the screen nor the server may notice it.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { commandLineOf } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import type { AgentDocument } from '../../src/daemon/status.ts';
import { type Agent, emptyEnvironment, launchAgent } from './agent.ts';
import type { PromptReport } from './prompt-report.ts';
import { configure, emptyBox, expectExact, say, timesTagged } from './prompting.ts';
import type { Scenario } from './scenario.ts';
import type { Watching } from './watching.ts';

export async function refuseEverywhere(
  s: Scenario,
  watch: Watching,
  report: PromptReport,
  times: number,
): Promise<void> {
  const refuser = new Refuser(s, watch, report, times);
  const agent = await refuser.launch('main-ps', 'bash');
  await inDialogs(refuser, agent);
  await inOtherViews(refuser, agent);
  await byDecree(refuser, agent);
  await underAPerson(refuser, agent);
  await afterTheClient(refuser, agent);
  await elsewhere(refuser);
}

class Refuser {
  readonly s: Scenario;
  readonly #watch: Watching;
  readonly #report: PromptReport;
  readonly #times: number;

  constructor(s: Scenario, watch: Watching, report: PromptReport, times: number) {
    this.s = s;
    this.#watch = watch;
    this.#report = report;
    this.#times = times;
  }

  async launch(name: string, shell: 'direct' | 'bash' | 'sh'): Promise<Agent> {
    const agent = await launchAgent({ scenario: this.s, session: name, shell });
    await agent.waitReady();
    await this.#watch.expect(name, 'idle', Date.now());
    return agent;
  }

  tmux(...args: string[]): Promise<string> {
    return this.s.tmux.run(...args);
  }

  async refused(where: string, agent: Agent, ...reasons: string[]): Promise<void> {
    for (let n = 0; n < this.#times; n += 1) {
      const before = await this.#seen(agent);
      const said = await say(this.s, agent.session, `never to be typed ${n}`);
      await sleep(300);
      const after = await this.#seen(agent);
      const arrived = this.s.agents.reduce((sum, other) => sum + timesTagged(other, said.tag), 0);
      const untouched = arrived === 0 && JSON.stringify(before) === JSON.stringify(after);
      this.#report.refused(where, said, untouched);
      expect(said, where).toMatchObject({ outcome: 'refused', code: 1 });
      expect(reasons, where).toContain(said.reason);
      expect({ arrived, ...after }, where).toEqual({ arrived: 0, ...before });
    }
  }

  async #seen(agent: Agent): Promise<{ screen: string; requests: number }> {
    return { screen: steady(await agent.screen()), requests: agent.model.turns.length };
  }
}

const logoRows = 5;

/** Without what moves by itself: the logo, blinking marks, hints at the right edge, and the footer under the box. */
function steady(screen: string): string {
  const rows = screen.trimEnd().split('\n');
  const box = rows.findLastIndex((row) => /^[❯!]\u00a0/.test(row));
  const end = box < 0 ? -1 : rows.findIndex((row, at) => at > box && row.startsWith('────'));
  const begin = rows.slice(0, logoRows).some((row) => row.includes('Claude Code v')) ? logoRows : 0;
  return rows
    .slice(begin, end < 0 ? rows.length : end)
    .filter((row) => !/^\s{12}|▔|^\s{3}.{115,}$/.test(row))
    .map((row) => row.replace(/^[●✻✢·✳✶✽*] /, ''))
    .map((row) => row.replace(/\s+/g, ' ').trim())
    .filter((row) => row !== '')
    .join('\n');
}

async function inDialogs(refuser: Refuser, agent: Agent): Promise<void> {
  agent.model.tool('Bash', { command: 'touch made-by-dialog', description: 'make a file' });
  await agent.type('make a file');
  await agent.waitDialog(/Do you want to/);
  await refuser.refused('permission dialog', agent, 'waiting-permission');
  await agent.keys('Escape');
  await agent.waitStatus('idle');

  agent.model.question('Which?', ['a', 'b']);
  await agent.type('ask me');
  await agent.waitDialog(/Which\?/);
  await refuser.refused('question dialog', agent, 'waiting-question');
  await agent.keys('Escape');
  await agent.waitStatus('idle');

  await agent.type('/model');
  await agent.waitForScreen(/Select model/);
  await sleep(400);
  await refuser.refused('menu of the client (/model)', agent, 'waiting-question');
  await agent.keys('Escape');
  await agent.waitStatus('idle');

  const untrusted = await launchAgent({ scenario: refuser.s, session: 'trust-ps', trust: false });
  await untrusted.waitForScreen(/one you trust/);
  await until('the dialog seen', async () => {
    const { agents } = (await refuser.s.watchkeeper(['status', '--json'])).json<{ agents: AgentDocument[] }>();
    return agents.find(({ agent: name }) => name === 'trust-ps')?.detail === 'setup';
  });
  await refuser.refused('trust dialog', untrusted, 'waiting-setup', 'no-input-box', 'not-agent');
  await refuser.tmux('kill-session', '-t', '=trust-ps');
}

async function inOtherViews(refuser: Refuser, agent: Agent): Promise<void> {
  const pane = agent.terminal.pane ?? '';
  await agent.keys('C-o');
  await agent.waitForScreen(/Showing detailed transcript/);
  await refuser.refused("the client's transcript view", agent, 'no-input-box');
  await agent.keys('Escape');
  await agent.waitForScreen(/^❯\u00a0/m);

  await agent.keys('!');
  await agent.waitForScreen(/^!\u00a0/m);
  await refuser.refused("the client's shell mode (!)", agent, 'no-input-box');
  await agent.keys('BSpace');
  await agent.waitForScreen(/^❯\u00a0/m);

  await agent.draft('first thought');
  await agent.keys('C-s');
  await agent.waitForScreen(/› stashed/);
  await agent.draft('second thought');
  await refuser.refused('a draft, and another one stashed already', agent, 'draft');
  await agent.keys('C-u', 'C-s');
  await agent.waitForScreen(/❯\u00a0first thought/);
  await emptyBox(agent);

  await refuser.tmux('choose-tree', '-t', pane);
  await refuser.refused('a menu of tmux over the pane', agent, 'pane-mode');
  await refuser.tmux('send-keys', '-t', pane, 'q');

  await refuser.tmux('set-option', '-w', '-t', pane, 'synchronize-panes', 'on');
  await refuser.refused('synchronised panes', agent, 'synchronized');
  await refuser.tmux('set-option', '-w', '-t', pane, 'synchronize-panes', 'off');
}

async function byDecree(refuser: Refuser, agent: Agent): Promise<void> {
  const { s } = refuser;
  await s.watchkeeper(['pause', '--reason', 'test']);
  await refuser.refused('paused', agent, 'paused');
  await s.watchkeeper(['unpause']);

  const inMode = (mode: string) => async () =>
    (await s.watchkeeper(['status', '--json'])).json<{ daemon: { mode: string } }>().daemon.mode === mode;
  configure(s, 'mode: watch\n');
  await until('watch mode', inMode('watch'));
  await refuser.refused('watch mode', agent, 'watch-mode');
  configure(s, 'mode: act\n');
  await until('act mode', inMode('act'));

  const observed = await refuser.launch('observed', 'direct');
  await refuser.refused('an agent that may only be observed', observed, 'authority');
}

/** A person at a second terminal, attached to the agent's session. */
function attach(s: Scenario, session: string): ChildProcess {
  const command = `stty rows 40 cols 120; exec tmux -S '${s.tmux.socket}' attach-session -t '=${session}'`;
  const log = path.join(s.dir, `person-${session}.log`);
  return spawn('script', ['-q', '-f', '-e', '-c', command, log], {
    env: emptyEnvironment(s.home),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

async function underAPerson(refuser: Refuser, agent: Agent): Promise<void> {
  const person = attach(refuser.s, agent.session);
  await until('a person attached', async () =>
    (await refuser.tmux('list-clients', '-F', '#{client_tty}')).includes('/dev/'),
  );
  await sleep(500);
  person.stdin?.write('hm');
  await agent.waitForScreen(/❯\u00a0hm/);
  await refuser.refused('a person types', agent, 'human-typing');
  // Attached, but quiet for long enough: no reason to refuse, and what was typed comes back.
  configure(refuser.s, 'prompt:\n  humanQuietSeconds: 1\n');
  const said = await until('a quiet person', async () => {
    const tried = await say(refuser.s, agent.session, 'said to an agent somebody looks at');
    if (tried.outcome !== 'confirmed') expect(tried).toMatchObject({ outcome: 'refused', reason: 'human-typing' });
    return tried.outcome === 'confirmed' ? tried : null;
  });
  await expectExact(agent, 'said to an agent somebody looks at', said.tag);
  await agent.waitForScreen(/❯\u00a0hm/);
  await emptyBox(agent);
  await refuser.tmux('detach-client', '-s', `=${agent.session}`);
  await until('the person gone', () => person.exitCode !== null || person.signalCode !== null);
}

/** The client is gone, and a shell, another client or something that looks like one has its pane. */
async function afterTheClient(refuser: Refuser, agent: Agent): Promise<void> {
  const command = commandLineOf(agent.pid() ?? 0);
  await agent.exit();
  await agent.waitForScreen(/[#$] *\n*$/);
  await refuser.refused('pane now a shell (bash), client exited', agent, 'not-agent');

  const typed = path.join(refuser.s.dir, 'typed-into-impostor');
  await agent.terminal.paste(impostor(refuser.s, typed));
  await agent.keys('Enter');
  await agent.waitForScreen(/looks like a client/);
  await refuser.refused('another program that draws the same box', agent, 'not-agent');
  expect(readFileSync(typed, 'utf8')).toBe('');
  await refuser.tmux('respawn-pane', '-k', '-t', agent.terminal.pane ?? '', 'bash', '--norc');

  const shell = await refuser.launch('sh-ps', 'sh');
  shell.kill('SIGKILL');
  await until('the client gone', () => shell.pid() === null);
  await shell.waitForScreen(/Killed/);
  await refuser.refused('pane now a shell (sh), client killed', shell, 'not-agent');

  const stopped = await refuser.launch('stopped-ps', 'bash');
  stopped.kill('SIGSTOP');
  await stopped.waitForScreen(/Stopped/);
  await refuser.refused('a stopped client', stopped, 'not-agent');

  const again = await refuser.launch('again-ps', 'bash');
  const inPane = commandLineOf(again.pid() ?? 0);
  expect(inPane).toBe(command.replaceAll('main-ps', 'again-ps'));
  again.kill('SIGKILL');
  await until('the client gone', () => again.pid() === null);
  await again.terminal.paste(inPane);
  await again.keys('Enter');
  // From here on there is another client in the pane. It is spoken to only once it is known, and then as itself.
  const said = await until('the new client known', async () => {
    const tried = await say(refuser.s, 'again-ps', 'to whoever is known by now');
    if (tried.outcome === 'confirmed') return tried;
    expect(tried).toMatchObject({ outcome: 'refused' });
    expect(timesTagged(again, tried.tag)).toBe(0);
    return null;
  });
  await expectExact(again, 'to whoever is known by now', said.tag);

  const dead = await refuser.launch('dead-ps', 'direct');
  await refuser.tmux('set-option', '-w', '-t', dead.terminal.pane ?? '', 'remain-on-exit', 'on');
  dead.kill('SIGKILL');
  const isDead = async () =>
    (await refuser.tmux('display-message', '-p', '-t', dead.terminal.pane ?? '', '#{pane_dead}')).trim() === '1';
  await until('the pane dead', isDead);
  await sleep(300);
  await refuser.refused('pane dead', dead, 'pane-dead', 'not-agent');
}

/** Something that has the client's name and its screen, and keeps what is typed into it. */
function impostor(s: Scenario, typed: string): string {
  const folder = path.join(s.dir, 'impostor');
  mkdirSync(folder);
  const program = path.join(folder, 'claude');
  const rule = '─'.repeat(100);
  const screen = `\\033[2J\\033[30;1H${rule}\\r\\n❯\u00a0\\r\\n${rule}\\r\\n  looks like a client`;
  writeFileSync(program, `#!/bin/bash\nstty raw -echo\nprintf '${screen}'\nexec cat > '${typed}'\n`);
  chmodSync(program, 0o755);
  return program;
}

/** What may be typed must not come anywhere else either. */
async function elsewhere(refuser: Refuser): Promise<void> {
  for (const agent of refuser.s.agents) expect(await agent.screen()).not.toMatch(/never to be typed/);
}
