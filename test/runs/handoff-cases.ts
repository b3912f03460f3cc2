// Handoffs that have come to some step, the world around them, and what is decided then.
import { expect, it } from 'vitest';
import { nextMove } from '../../src/decide/handoff/cycle.ts';
import type { DocumentLook, HandoffFacts, Move } from '../../src/decide/handoff/moves.ts';
import { newHandoffSigns } from '../../src/detect/handoff-signs.ts';
import type { AgentView, State } from '../../src/model/agent.ts';
import type { Handoff, HandoffAction, HandoffDeed, HandoffStep } from '../../src/model/handoff.ts';

export const t0 = 1_000_000;
export const deadlineMs = 300_000;
export const way: readonly HandoffStep[] = [
  ...(['requested', 'prompted', 'written', 'verified', 'saved', 'cleared', 'resumed', 'confirmed', 'done'] as const),
];

/** A handoff that has come to this step, with what was done on the way. */
export function at(step: HandoffStep, changes: Partial<Handoff> = {}): Handoff {
  const steps = way
    .slice(0, way.indexOf(step) + 1)
    .map((name, n) => ({ step: name, atMs: t0 + n * 1000, reason: null }));
  const cleared = way.indexOf(step) >= way.indexOf('cleared');
  const saved = way.indexOf(step) >= way.indexOf('saved');
  return {
    id: 'h',
    host: 'h',
    agent: 'a-ps',
    project: 'a',
    trigger: 'rule:at-percent',
    by: 'rule',
    recipe: 'document',
    nonce: 'abcd1234',
    file: '/p/.watchkeeper/handoffs/handoff-1.md',
    cwd: '/p',
    oldSession: 'old',
    newSession: cleared ? 'new' : null,
    requestedMs: t0,
    steps,
    sha256: saved ? 'good' : null,
    sentBack: 0,
    acked: false,
    ...changes,
  };
}

const wordOf: Record<string, { outcome: string; reason: string | null }[]> = {
  done: [{ outcome: 'confirmed', reason: null }],
  open: [],
  draft: [{ outcome: 'refused', reason: 'draft' }],
  unsafe: [{ outcome: 'refused', reason: 'unsafe-text' }],
  uncertain: [{ outcome: 'uncertain', reason: 'daemon-restarted' }],
  unproved: [{ outcome: 'uncertain', reason: 'no-proof' }],
  late: [
    { outcome: 'uncertain', reason: 'no-proof' },
    { outcome: 'confirmed', reason: 'proved-late' },
  ],
};

export function did(
  deed: HandoffDeed,
  word: keyof typeof wordOf,
  after: number,
  why: string | null = null,
): HandoffAction {
  const typed = deed === 'ask' || deed === 'resume' ? `words [wk-${deed}${after}]` : `/${deed}`;
  return {
    id: `${deed}${after}`,
    deed,
    after,
    why,
    atMs: t0 + after * 1000 - 500,
    outcomes: wordOf[word] ?? [],
    typed,
  };
}

export const good: Extract<DocumentLook, { kind: 'ok' }> = {
  kind: 'ok',
  sha256: 'good',
  mtimeMs: t0 + 1_500,
  problems: [],
};
export const poor: DocumentLook = { ...good, problems: [{ what: 'nonce', words: 'the nonce is not in it' }] };

export interface World {
  state?: State;
  session?: string | null;
  background?: string[];
  ageMs?: number;
  nowMs?: number;
  forbidden?: HandoffFacts['forbidden'];
  hasPlace?: boolean;
  document?: DocumentLook | null;
  old?: Partial<HandoffFacts['old']>;
  fresh?: Partial<HandoffFacts['fresh']>;
  actions?: HandoffAction[];
  gone?: boolean;
}

export function facts(handoff: Handoff, world: World): HandoffFacts {
  const reading = { state: world.state ?? 'idle', detail: null } as AgentView['reading'];
  const background = (world.background ?? []).map((id) => ({ id, kind: 'shell' as const, sinceMs: 0, tool: null }));
  const sessionId = world.session === undefined ? (handoff.newSession ?? 'old') : world.session;
  const asked = handoff.steps.length > 1 ? [did('ask', 'done', 1)] : [];
  const resumed = handoff.steps.length > 6 ? [did('resume', 'done', 6)] : [];
  return {
    nowMs: world.nowMs ?? t0 + 60_000,
    stepAgeMs: world.ageMs ?? 1_000,
    deadlineMs,
    backgroundMs: deadlineMs,
    agent: world.gone === true ? null : { reading, sessionId, background },
    forbidden: world.forbidden ?? null,
    hasPlace: world.hasPlace ?? true,
    document: world.document === undefined ? good : world.document,
    // The turn in which it was asked has ended, as a rule.
    old: {
      ...newHandoffSigns(),
      turnEndedMs: t0 + 2_000,
      prompts: [{ atMs: t0 + 600, tags: ['wk-ask1'], command: null }],
      ...world.old,
    },
    fresh: { ...newHandoffSigns(), ...world.fresh },
    actions: [...asked, ...resumed, ...(world.actions ?? [])],
  };
}

const said = (move: Move): string =>
  move.do === 'step'
    ? `step ${move.step}`
    : move.do === 'fail'
      ? `fail ${move.reason}`
      : move.do === 'wait'
        ? `wait: ${move.reason}`
        : move.do === 'note-cleared'
          ? `cleared ${move.newSession}`
          : move.do === 'ask' && move.problems.length > 0
            ? `ask again: ${move.problems.map(({ words }) => words).join(', ')}`
            : move.do;

type Case = [name: string, step: HandoffStep, world: World, expected: string, changes?: Partial<Handoff>];
export const clearedTwice = { steps: [...at('cleared').steps, ...at('cleared').steps.slice(-1)] };
export const [late, tooLate] = [deadlineMs + 1, 2 * deadlineMs + 1];

export function changedOften(): Handoff['steps'] {
  const round = (['written', 'verified', 'saved'] as const).map((step) => ({
    step,
    atMs: t0,
    reason: step === 'written' ? 'it changed' : null,
  }));
  return [...at('saved').steps, ...Array.from({ length: 5 }, () => round).flat()];
}

export function table(cases: Case[]): void {
  it.each(cases)('%s (%s)', (_name, step, world, expected, changes = {}) => {
    const handoff = at(step, changes);
    expect(said(nextMove(handoff, facts(handoff, world)))).toBe(expected);
  });
}
