// Says something through `watchkeeper prompt`, and finds in the model server's log what really arrived.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import type { PromptResult } from '../../src/actions/actions.ts';
import { until } from '../../src/conform/until.ts';
import type { Agent } from './agent.ts';
import type { Scenario } from './scenario.ts';

export type Said = PromptResult & { code: number };

export async function say(s: Scenario, agent: string, text: string, ...args: string[]): Promise<Said> {
  const result = await s.watchkeeper(['prompt', agent, '-', '--json', ...args], { stdin: text });
  if (result.stdout === '') throw new Error(`prompt ended with ${result.code}: ${result.stderr}`);
  return { ...result.json<PromptResult>(), code: result.code };
}

/** Every text of a user that a request of the conversation holds: the newest one, unless told otherwise. */
function userTexts(agent: Pick<Agent, 'model'>, request = agent.model.turns.at(-1)): string[] {
  const texts: string[] = [];
  const messages = request?.body.messages as { role: string; content: unknown }[] | undefined;
  for (const message of messages ?? []) {
    if (message.role !== 'user') continue;
    if (typeof message.content === 'string') texts.push(message.content);
    else for (const part of message.content as { type: string; text?: string }[]) texts.push(part.text ?? '');
  }
  return texts;
}

/** How often the text came whole: from the beginning of a line to its tag. Several queued ones may be one message. */
export function timesExact(agent: Agent, text: string, tag: string): number {
  const whole = `${text} [${tag}]`;
  return userTexts(agent).reduce((sum, said) => sum + `\n${said}`.split(`\n${whole}`).length - 1, 0);
}

/** How often anything with this tag came, whole or not. */
export function timesTagged(agent: Agent, tag: string): number {
  return userTexts(agent).reduce((sum, said) => sum + said.split(`[${tag}]`).length - 1, 0);
}

/** The same over all conversations an agent of this name ever had: the most that one request held. */
export function timesEver(agent: Pick<Agent, 'model'>, tag: string): number {
  const count = (texts: string[]) => texts.reduce((sum, said) => sum + said.split(`[${tag}]`).length - 1, 0);
  return Math.max(0, ...agent.model.turns.map((request) => count(userTexts(agent, request))));
}

/** The tags of all prompts of this kind that ever came to the model. */
export function tagsOf(agent: Agent, words: RegExp): Set<string> {
  const texts = agent.model.turns.flatMap((request) => userTexts(agent, request));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => words.test(line));
  return new Set(lines.flatMap((line) => [...line.matchAll(/\[(wk-n?[0-9a-f]{4})\]/g)].map((match) => match[1] ?? '')));
}

/** At the model once, whole, and nothing else with its tag. */
export async function expectExact(agent: Agent, text: string, tag: string, ms = 30_000): Promise<void> {
  await until(`"${text.slice(0, 30)}" at the model`, () => timesTagged(agent, tag) > 0, ms);
  const counts = { exact: timesExact(agent, text, tag), tagged: timesTagged(agent, tag) };
  expect(counts, `${JSON.stringify(text.slice(0, 60))} [${tag}]`).toEqual({ exact: 1, tagged: 1 });
}

export interface PromptItem {
  id: string;
  at: string;
  agent: string;
  intent: { text: string; tag: string };
  outcome: string | null;
  reason: string | null;
  outcomes: { outcome: string; reason: string | null }[];
}

/** The ledger's prompts, oldest first. */
export async function prompts(s: Scenario, agent?: string): Promise<PromptItem[]> {
  const listed = await s.watchkeeper(['prompts', ...(agent === undefined ? [] : [agent]), '--json']);
  return listed.json<{ items: PromptItem[] }>().items;
}

/** The machine's configuration of this scenario; the daemon reads it anew. */
export function configure(s: Scenario, yaml: string): void {
  const file = path.join(s.home, '.config/watchkeeper/config.yaml');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, yaml);
}

/** Takes everything out of the box, row by row. */
export async function emptyBox(agent: Agent): Promise<void> {
  const isEmpty = async () => {
    const rows = (await agent.screen()).split('\n').filter((row) => row.startsWith('❯\u00a0'));
    if (/^❯\u00a0\s*$/.test(rows.at(-1) ?? '')) return true;
    await agent.keys('C-u', 'C-u', 'C-u');
    return false;
  };
  await until(`an empty box of ${agent.session}`, isEmpty);
}
