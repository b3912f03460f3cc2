import path from 'node:path';
import { ownCommandFor } from '../../clients/clients.ts';
import { matchesGlob } from '../../model/glob.ts';
import { whyUnsafe } from '../prompt-text.ts';
import { type Slot, slotText, type TemplateOverrides } from '../templates.ts';
import {
  askAgainText,
  type DocumentProblem,
  handoffFile,
  type Request,
  requestText,
  resumeText,
  runningWords,
  sayablePath,
} from './document.ts';
import type { HandoffPolicy } from './trigger.ts';

/**
 * The words of a handoff: which prompt or command asks for it, where the file is then, and which resumes. Without one it
 * is our own document. A recipe's file has no form of its own: it has to be new, regular and of sane size.
 */
export interface Recipe {
  name: string;
  /** The agents it is for; without it only by being the default one. */
  match?: string | undefined;
  /** In place of the general one. */
  atPercent?: number | undefined;
  ask: string;
  /** In the project; `*` stands for any characters of one name. The newest counts. */
  file: string;
  resume: string;
}

export interface RecipeChoice {
  recipe: string;
  recipes: readonly Recipe[];
}

/** The name of our own. */
export const documentRecipe = 'document';

/** What is typed. A command of the client's user is typed without a tag, and proved by what it does. */
export type Words = { ok: true; text: string; isCommand: boolean } | { ok: false; reason: string };

/** The first recipe that names the agent, else the default one; null: our own document. */
export function recipeFor(agent: string, { recipe, recipes }: RecipeChoice): Recipe | null {
  const named = recipes.find(({ match }) => match !== undefined && matchesGlob(match, agent));
  return named ?? recipes.find(({ name }) => name === recipe) ?? null;
}

/** When this agent is handed over. */
export function policyFor(
  agent: string,
  { atPercent, compaction, ...choice }: HandoffPolicy & RecipeChoice,
): HandoffPolicy {
  return { atPercent: recipeFor(agent, choice)?.atPercent ?? atPercent, compaction };
}

/** How long background work is waited for before the document is asked for. */
export function backgroundMs(policy: { waitForBackground: boolean | number; deadlineMinutes: number }): number {
  const { waitForBackground, deadlineMinutes } = policy;
  if (waitForBackground === false) return 0;
  return (waitForBackground === true ? deadlineMinutes : waitForBackground) * 60_000;
}

/** By the name that is on record; undefined: the configuration has it no more. */
export function recipeCalled(name: string, recipes: readonly Recipe[]): Recipe | null | undefined {
  return name === documentRecipe ? null : recipes.find((recipe) => recipe.name === name);
}

export function askWords(recipe: Recipe | null, request: Request, templates: TemplateOverrides): Words {
  if (recipe === null) return asPrompt(requestText(request, templates));
  const { nonce, why, background } = request;
  return filled(recipe.ask, 'ask', { file: sayablePath(request), nonce, why, background: runningWords(background) });
}

/** A recipe cannot say what is wrong: it asks once more. */
export function againWords(
  recipe: Recipe | null,
  problems: readonly DocumentProblem[],
  request: Request,
  templates: TemplateOverrides,
): Words {
  if (recipe === null) return asPrompt(askAgainText(problems, request, templates));
  return askWords(recipe, request, templates);
}

export function resumeWords(
  recipe: Recipe | null,
  place: Pick<Request, 'file' | 'projectDir'>,
  templates: TemplateOverrides,
): Words {
  if (recipe === null) return asPrompt(resumeText(place, templates));
  return filled(recipe.resume, 'resume', { file: sayablePath(place) });
}

/** Where the handoff will be; a recipe's may hold stars. */
export function recipeFile(
  recipe: Recipe | null,
  dir: string,
  projectDir: string,
  atMs: number,
  taken: ReadonlySet<string>,
): string {
  if (recipe === null) return handoffFile(dir, projectDir, atMs, taken);
  return path.join(projectDir, recipe.file);
}

type Kind = 'ask' | 'resume';
const slots: Record<Kind, readonly Slot[]> = { ask: ['file', 'nonce', 'why', 'background'], resume: ['file'] };
const wordsCharsMax = 1_000;
const slotPattern = /\{([a-z]+)\}/g;
const commandPattern = /^\/([a-z0-9][\w:.-]{0,79})(?: \S.*)?$/i;

/** For the configuration: why a recipe may not say this; null: it may. */
export function whyBadWords(text: string, kind: Kind): string | null {
  if (text.length > wordsCharsMax) return `at most ${wordsCharsMax} characters`;
  const known = slots[kind].map((name) => `{${name}}`);
  for (const [whole] of text.matchAll(slotPattern)) {
    if (!known.includes(whole)) return `it has no slot ${whole}, only ${known.join(', ')}`;
  }
  if (/[{}]/.test(text.replaceAll(slotPattern, ''))) return 'it holds a brace that belongs to no slot';
  if (/^\s*\{/.test(text)) return 'it begins with a slot';
  return whyNotTyped(text);
}

/** The name of a command that may be typed: well-formed, and none of the client's own. */
export function commandIn(text: string): string | null {
  const name = text.startsWith('/') ? commandPattern.exec(text)?.[1] : undefined;
  return name === undefined || whyNotTyped(text) !== null ? null : name;
}

function whyNotTyped(text: string): string | null {
  if (!text.startsWith('/')) return whyUnsafe(text, true);
  const name = commandPattern.exec(text)?.[1];
  if (name === undefined) return 'a command is one line: / and its name, then what it is given';
  const own = ownCommandFor(name);
  if (own !== null) return `/${own} is a command of the client itself`;
  return whyUnsafe(`x ${text}`, true);
}

function filled(text: string, kind: Kind, values: Readonly<Partial<Record<Slot, string>>>): Words {
  const bad = whyBadWords(text, kind);
  if (bad !== null) return { ok: false, reason: bad };
  const safe = new Map<string, string>();
  for (const slot of slots[kind].filter((name) => text.includes(`{${name}}`))) {
    const checked = slotText(slot, values[slot] ?? '');
    if (!checked.ok) return { ok: false, reason: `{${slot}}: ${checked.reason}` };
    safe.set(slot, checked.text);
  }
  const whole = text.replaceAll(slotPattern, (given, slot: string) => safe.get(slot) ?? given);
  const unsafe = whyNotTyped(whole);
  if (unsafe !== null) return { ok: false, reason: unsafe };
  return { ok: true, text: whole, isCommand: whole.startsWith('/') };
}

function asPrompt(text: ReturnType<typeof requestText>): Words {
  return text.ok ? { ...text, isCommand: false } : text;
}
