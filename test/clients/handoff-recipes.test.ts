// Other words for a handoff: a project's own commands ask for it and resume, and its own file is what is handed over.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ModelReply } from '../../src/clients/claude-code/conform/model-script.ts';
import type { ModelTurn } from '../../src/clients/claude-code/conform/model-turn.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { type Agent, launchAgent } from './agent.ts';
import { ended, wholeWay } from './handing-over.ts';
import { configure } from './prompting.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Watching } from './watching.ts';

const tina = {
  name: 'tina',
  match: 'phase-*',
  atPercent: 50,
  ask: '/tina:checkpoint',
  file: '.tina/phase-*/handoff.md',
  resume: '/tina:rehydrate',
};
const mistyped = { ...tina, name: 'mistyped', match: 'lost-*', ask: '/tina:nothing' };

/** Three of one project, each with an account of its own; the last is alone. */
const kinds = [
  { session: 'phase-1', shell: 'direct', phase: 1 },
  { session: 'phase-2', shell: 'bash', phase: 2 },
  { session: 'phase-3', shell: 'sh', phase: 3 },
  { session: 'lost-ps', shell: 'bash', phase: 4 },
] as const;

function commandsIn(project: string): void {
  const folder = path.join(project, '.claude', 'commands', 'tina');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'checkpoint.md'), 'Write the state of your phase to its handoff file.\n');
  writeFileSync(path.join(folder, 'rehydrate.md'), 'Read the handoff file of your phase and go on.\n');
}

/** A model that knows what the two commands want of it; its context is so full in percent of a million. */
class Phase {
  readonly agent: Agent;
  readonly handoff: string;
  readonly next: string;
  percent = 10;
  /** What was said to it. */
  readonly said: string[] = [];

  constructor(agent: Agent, phase: number) {
    this.agent = agent;
    const { project } = agent.folder;
    this.handoff = path.join(project, '.tina', `phase-${phase}`, 'handoff.md');
    this.next = path.join(project, `next-${phase}.txt`);
    agent.model.behave((turn) => ({ ...this.#reply(turn), usage: this.#usage() }));
  }

  #reply({ text, toolResults: [result] }: ModelTurn): ModelReply {
    this.said.push(text);
    if (text.startsWith('Write the state')) {
      if (result !== undefined) return { text: 'Saved.' };
      const content = `phase of ${this.agent.session}: make ${this.next} next\n`;
      return { tools: [{ name: 'Write', input: { file_path: this.handoff, content } }] };
    }
    if (!text.startsWith('Read the handoff')) return { text: 'Done.' };
    this.percent = 5;
    if (result === undefined) return { tools: [{ name: 'Read', input: { file_path: this.handoff } }] };
    if (result.name !== 'Read') return { text: 'The phase goes on.' };
    return { tools: [{ name: 'Bash', input: { command: `touch ${this.next}`, description: 'the next step' } }] };
  }

  #usage() {
    return { input: 10, cacheRead: this.percent * 10_000 - 1_010, cacheCreate: 1_000 };
  }
}

test(
  "a project's own commands hand over at their own percentage, one agent after the other; an unknown one clears nothing, nor becomes another",
  scenario(async (s) => {
    const watch = new Watching(s);
    const handoff = { deadlineMinutes: 2, maxParallel: 1, recipes: [tina, mistyped] };
    const agents = [{ match: '*', authority: 'manage' }];
    const config = { tickSeconds: 0.3, agents, handoff };
    configure(s, JSON.stringify(config));
    try {
      await watch.start();
      const phases = await Promise.all(kinds.map(async (kind) => new Phase(await start(s, kind), kind.phase)));
      for (const { agent } of phases) await agent.waitReady(40_000);
      for (const { session } of kinds) await s.until(session, () => watch.status(session), 20_000);
      const would = await s.watchkeeper(['handoff', 'phase-1', '--dry-run']);
      expect(would.stdout).toContain('recipe tina');
      const before = phases.map(({ agent }) => agent.registry()?.sessionId);

      for (const phase of phases) {
        if (phase.agent.session !== 'lost-ps') phase.percent = 51;
        await phase.agent.type('work');
      }
      const over: HandoffDocument[] = [];
      for (const [index, { agent }] of phases.slice(0, 3).entries()) {
        const one = await ended(s, agent.session, 1, 90_000);
        expect(one, agent.session).toMatchObject({ step: 'done', recipe: 'tina', trigger: 'rule:at-percent' });
        expect(
          one.steps.map(({ step }) => step),
          agent.session,
        ).toEqual(wholeWay);
        expect(one.file).toBe(phases[index]?.handoff);
        expect(one.old_session).toBe(before[index]);
        over.push(one);
      }
      for (const { agent, next } of phases.slice(0, 3)) {
        await s.until(`the next step of ${agent.session}`, () => existsSync(next), 20_000);
        expect(agent.registry()?.sessionId).toBe(over.find((one) => one.agent === agent.session)?.new_session);
      }
      // From the request that was typed to the end nobody else was at it.
      const spans = over
        .map(({ steps }) => steps.filter(({ step }) => step !== 'requested').map(({ at }) => Date.parse(at)))
        .map((times) => ({ from: times[0] ?? 0, to: times.at(-1) ?? 0 }))
        .sort((a, b) => a.from - b.from);
      for (const [index, { from }] of spans.entries())
        if (index > 0) expect(from).toBeGreaterThanOrEqual(spans[index - 1]?.to ?? 0);

      const lost = phases[3];
      const said = await s.watchkeeper(['handoff', 'lost-ps', '--wait', '60', '--json']);
      expect(said.code).toBe(1);
      expect(said.json()).toMatchObject({ step: 'failed', reason: 'unknown-command', recipe: 'mistyped' });
      expect(lost?.agent.registry()?.sessionId).toBe(before[3]);
      expect(existsSync(lost?.handoff ?? '')).toBe(false);
      const ledger = (await s.watchkeeper(['audit', '--json'])).json<{ items: Item[] }>().items;
      const lostDeeds = ledger.filter(({ agent }) => agent === 'lost-ps').map(({ intent }) => intent.deed);
      expect(lostDeeds.filter((deed) => deed !== undefined)).toEqual(['ask']);
      const typed = ledger.filter(({ agent, outcome }) => agent === 'phase-1' && outcome === 'confirmed');
      expect(typed.map(({ intent }) => intent.command).sort()).toEqual([
        '/clear',
        '/tina:checkpoint',
        '/tina:rehydrate',
      ]);
      expect(readFileSync(phases[0]?.handoff ?? '', 'utf8')).toContain('phase of phase-1');

      // Of this one the client would make /tina:checkpoint.
      configure(
        s,
        JSON.stringify({ ...config, handoff: { ...handoff, recipes: [{ ...mistyped, ask: '/tina:check' }] } }),
      );
      const log = path.join(s.watchkeeperHome, 'daemon.log');
      await s.until('the configuration read', () =>
        readFileSync(log, 'utf8').includes('the configuration was read anew'),
      );
      const short = await s.watchkeeper(['handoff', 'lost-ps', '--wait', '60', '--json']);
      expect(short.json()).toMatchObject({ step: 'failed', reason: 'unknown-command', recipe: 'mistyped' });
      expect(lost?.said.filter((text) => text.startsWith('Write the state'))).toEqual([]);
      expect(await lost?.agent.typed()).not.toContain('tina');
    } finally {
      watch.stop();
    }
  }),
  240_000,
);

function start(s: Scenario, { session, shell }: (typeof kinds)[number]): Promise<Agent> {
  const project = path.join(s.dir, session === 'lost-ps' ? 'lost' : 'phases');
  const configDir = path.join(s.dir, session, 'config');
  const prepared = async () => commandsIn(project);
  return launchAgent({ scenario: s, session, shell, permissionMode: 'auto', project, configDir, prepared });
}

interface Item {
  agent: string;
  outcome: string | null;
  intent: { deed?: string; command?: string };
}
