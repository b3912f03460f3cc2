// A model that does what a handoff asks of it, or not: writes the document, reads it in the fresh context, and does the
// next step that it names. What it does otherwise is up to the test.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelReply } from '../../src/clients/claude-code/conform/model-script.ts';
import type { ModelTurn } from '../../src/clients/claude-code/conform/model-turn.ts';
import { until, withMore } from '../../src/conform/until.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import type { Agent } from './agent.ts';
import type { Scenario } from './scenario.ts';

/** What is asked of the model at this moment: the document, once more, to take it up, or nothing of a handoff. */
type Asked = 'document' | 'again' | 'resume' | 'work';

export interface Ask {
  asked: Asked;
  file: string;
  nonce: string;
  /** The calls since then that the model got results of, by tool. */
  turn: ModelTurn;
}

/** The reply of a disobedient model; undefined: it obeys this time. null: the reply for everything else. */
export type Disobedience = (ask: Ask, model: Handing) => ModelReply | null | undefined;

export class Handing {
  readonly agent: Agent;
  /** So full is its context, in percent; a fresh one has little in it. */
  percent = 10;
  /** Of its model, in tokens. */
  readonly window: number;
  /** The commit that its documents name. */
  head = 'none, there is no repository';
  /** The background work that its documents list: what it was told of. */
  background = 'none';
  /** How many documents it has written. */
  documents = 0;
  readonly asks: Ask[] = [];
  #disobey: Disobedience;

  constructor(agent: Agent, disobey: Disobedience = () => undefined, window = 1_000_000) {
    this.agent = agent;
    this.window = window;
    this.#disobey = disobey;
    agent.model.behave((turn) => this.#reply(turn));
  }

  disobey(how: Disobedience): void {
    this.#disobey = how;
  }

  /** The file that only the next step of the n-th document makes. */
  stepFile(n: number): string {
    return path.join(this.agent.folder.project, `step-${n}.txt`);
  }

  /** One turn after which its context is so full. */
  async fill(percent: number): Promise<void> {
    this.percent = percent;
    await this.agent.type(`work until ${percent}`);
  }

  document(nonce: string, next: string): string {
    const sections = {
      Goal: 'Make every step file of the list, in its order.',
      State: `Documents so far: ${this.documents}. Everything before this step is done.`,
      Decisions: 'none',
      'Next step': `Create the file ${next}`,
      'Open files': 'none',
      'Background work': this.background,
      'How to verify': 'The step files are there, one for each document.',
      'Git HEAD': this.head,
      Nonce: nonce,
    };
    return Object.entries(sections)
      .map(([name, text]) => `## ${name}\n${text}\n`)
      .join('\n');
  }

  #reply(turn: ModelTurn): ModelReply | null {
    const ask = readAsk(turn, this.agent.folder.project);
    this.asks.push(ask);
    this.background = /running now: ([^)]*)\)/.exec(turn.text)?.[1] ?? this.background;
    const otherwise = this.#disobey(ask, this);
    if (otherwise !== undefined) return otherwise === null ? this.#said('Done.') : { ...this.#said(), ...otherwise };
    switch (ask.asked) {
      case 'document':
      case 'again':
        return this.write(ask);
      case 'resume':
        return this.#goOn(ask);
      case 'work':
        return this.#said('Done.');
    }
  }

  /** The document, by one call; then the end of the turn. */
  write({ file, nonce, turn }: Ask, content?: string): ModelReply {
    if (turn.toolResults.length > 0) return this.#said('The handoff document is written.');
    this.documents += 1;
    const text = content ?? this.document(nonce, this.stepFile(this.documents));
    return { ...this.#said(), tools: [{ name: 'Write', input: { file_path: file, content: text } }] };
  }

  #goOn({ file, turn }: Ask): ModelReply {
    const [result] = turn.toolResults;
    this.percent = 5;
    if (result === undefined) return { ...this.#said(), tools: [{ name: 'Read', input: { file_path: file } }] };
    const next = /Create the file (\S+)/.exec(result.text)?.[1];
    if (result.name !== 'Read' || next === undefined) return this.#said('The next step is done.');
    const command = `touch ${next}`;
    return { ...this.#said(), tools: [{ name: 'Bash', input: { command, description: 'the next step' } }] };
  }

  #said(text?: string): ModelReply {
    const usage = { input: 10, cacheRead: Math.round((this.percent / 100) * this.window) - 1_010, cacheCreate: 1_000 };
    return text === undefined ? { usage } : { text, usage };
  }
}

function readAsk(turn: ModelTurn, project: string): Ask {
  const { text } = turn;
  const asked = /write a handoff document now/.test(text)
    ? 'document'
    : /handoff document .* is not good yet/.test(text)
      ? 'again'
      : /read the handoff document/.test(text)
        ? 'resume'
        : 'work';
  const named = /(?:to the file|handoff document) (\S+?\.md)\b/.exec(text)?.[1];
  // By its place in the project where its full path cannot be typed.
  const file = named === undefined ? '' : path.resolve(project, named);
  const nonce = /Nonce \((\w+)\)/.exec(text)?.[1] ?? '';
  return { asked, file, nonce, turn };
}

/** An empty repository with one commit, where its agent works. */
export function makeRepository(dir: string): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: dir })
      .toString()
      .trim();
  git('init', '-q');
  writeFileSync(path.join(dir, 'file.txt'), 'one\n');
  git('add', 'file.txt');
  git('commit', '-q', '-m', 'one');
  return git('rev-parse', 'HEAD');
}

export async function handoffs(s: Scenario, agent?: string): Promise<HandoffDocument[]> {
  const listed = await s.watchkeeper(['handoffs', ...(agent === undefined ? [] : [agent]), '--json']);
  return listed.json<{ items: HandoffDocument[] }>().items;
}

/** The n-th handoff of this agent when it is over. */
export function ended(s: Scenario, agent: string, n = 1, ms = 60_000): Promise<HandoffDocument> {
  let last: HandoffDocument[] = [];
  const look = async () => {
    // Each look is a program of its own: a core is better used by the clients.
    await sleep(300);
    last = await handoffs(s, agent);
    const one = last[n - 1];
    return one !== undefined && (one.step === 'done' || one.step === 'failed') ? one : null;
  };
  const more = () => JSON.stringify(last, null, 1);
  return until(`handoff ${n} of ${agent} over`, look, ms).catch(withMore(more));
}

/** Every step of a handoff that went as it should. */
export const wholeWay = [
  ...['requested', 'prompted', 'written', 'verified', 'saved', 'cleared', 'resumed', 'confirmed', 'done'],
];
