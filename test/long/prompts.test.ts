// Two hundred prompts through the CLI alone, in every state an agent can be spoken to, and a refusal in every one it cannot.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type Agent, emptyEnvironment, type LaunchOptions, launchAgent } from '../clients/agent.ts';
import { configure, emptyBox, expectExact, type Said, say, timesTagged, userTexts } from '../clients/prompting.ts';
import type { Scenario } from '../clients/scenario.ts';
import { until } from '../clients/until.ts';
import { type Watching, watched } from '../clients/watching.ts';
import { payloads } from './prompt-payloads.ts';
import { PromptReport } from './prompt-report.ts';

const report = new PromptReport();
afterAll(() => report.write());

const states = [
  'idle',
  'streaming',
  'tool running',
  'draft present',
  'copy mode',
  'queue not empty',
  'compaction running',
] as const;
type State = (typeof states)[number];

interface Lane {
  name: string;
  shell: NonNullable<LaunchOptions['shell']>;
  permissionMode: 'default' | 'auto';
  sends: number;
}

const lanes: Lane[] = [
  { name: 'direct-manual-ps', shell: 'direct', permissionMode: 'default', sends: 40 },
  { name: 'bash-auto-ps', shell: 'bash', permissionMode: 'auto', sends: 32 },
  { name: 'sh-manual-ps', shell: 'sh', permissionMode: 'default', sends: 32 },
  { name: 'direct-auto-ps', shell: 'direct', permissionMode: 'auto', sends: 32 },
  { name: 'bash-manual-ps', shell: 'bash', permissionMode: 'default', sends: 32 },
  { name: 'sh-auto-ps', shell: 'sh', permissionMode: 'auto', sends: 32 },
];

const drafts = ['a', 'my half typed thought', 'two\nrows', 'grüße 日本 🎉', 'a\nlong\ndraft\nof\nfive', 'y'.repeat(300)];

/** One agent, spoken to again and again, in one state after the other. */
class Conversation {
  readonly #s: Scenario;
  readonly #lane: Lane;
  readonly #agent: Agent;
  #count = 0;

  constructor(s: Scenario, lane: Lane, agent: Agent) {
    this.#s = s;
    this.#lane = lane;
    this.#agent = agent;
  }

  async run(first: number): Promise<void> {
    const texts = payloads.filter(({ text }) => this.#lane.shell === 'direct' || !text.includes('\n'));
    for (let n = 0; n < this.#lane.sends; n += 1) {
      const state = states[n % states.length] ?? 'idle';
      const payload = texts[(first + n) % texts.length];
      if (payload === undefined) throw new Error('no payload');
      this.#count = n;
      await this.#in(state, () => this.#speak(state, payload.text.replaceAll('%n', `${first + n}`)));
      await this.#agent.waitStatus('idle', 20_000);
    }
  }

  async #in(state: State, speak: () => Promise<void>): Promise<void> {
    const agent = this.#agent;
    const { model } = agent;
    switch (state) {
      case 'idle':
        return speak();
      case 'streaming': {
        const held = model.hold();
        await agent.type(`talk ${this.#count}`);
        await held.arrived;
        await agent.waitForScreen(/I am thinking about it/);
        await speak();
        return held.release();
      }
      case 'tool running': {
        const fifo = path.join(agent.folder.project, 'go');
        if (!existsSync(fifo)) execFileSync('mkfifo', [fifo]);
        model.tool('Bash', { command: 'cat go', description: 'wait' });
        await agent.type(`use a tool ${this.#count}`);
        await agent.waitForScreen(/⎿ {2}\$ cat go/);
        await speak();
        return writeFileSync(fifo, 'go\n');
      }
      case 'draft present':
        return this.#overDraft(speak);
      case 'copy mode':
        await this.#s.tmux.run('copy-mode', '-t', agent.terminal.pane ?? '');
        return speak();
      case 'queue not empty': {
        const held = model.hold();
        await agent.type(`talk long ${this.#count}`);
        await held.arrived;
        await agent.type(`queued by hand ${this.#count}`);
        await agent.waitForScreen(/Press up to edit queued messages/);
        await speak();
        return held.release();
      }
      case 'compaction running': {
        const held = model.compaction.hold('<summary>We', 'talked.</summary>');
        await agent.type('/compact');
        await held.arrived;
        await speak();
        return held.release();
      }
    }
  }

  /** Every other time over a running turn, where the prompt is queued. */
  async #overDraft(speak: () => Promise<void>): Promise<void> {
    const agent = this.#agent;
    const held = this.#count % 2 === 0 ? agent.model.hold() : null;
    if (held !== null) {
      await agent.type(`talk under a draft ${this.#count}`);
      await held.arrived;
    }
    await agent.draft(drafts[Math.floor(this.#count / states.length) % drafts.length] ?? 'draft');
    await sleep(200);
    const before = await agent.terminal.typed();
    await speak();
    // Chips keep their number, so the box has to look the same to the letter.
    const restored = until('the draft back', async () => box(await agent.terminal.typed()) === box(before), 3_000).then(
      () => true,
      () => false,
    );
    report.draft(await restored);
    held?.release();
    await agent.waitStatus('idle', 20_000);
    await emptyBox(agent);
  }

  async #speak(state: State, text: string): Promise<void> {
    const agent = this.#agent;
    const said = await say(this.#s, this.#lane.name, text);
    report.sent(state, said);
    if (said.proof === null) return;
    // It comes to the model only when what it waits behind is over.
    const whole = expectExact(agent, text, said.tag, 30_000);
    this.#arrivals.push(whole.then(() => report.exact(state), (error: Error) => report.wrong(state, error.message)));
  }

  readonly #arrivals: Promise<void>[] = [];
}
