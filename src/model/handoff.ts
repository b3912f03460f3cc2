import type { AgentRef } from './agent-ref.ts';
import type { Caller } from './caller.ts';

/** Handing a full context over to a fresh one: what is asked for, how far it came, and how it ended. */

/**
 * requested → prompted → written → verified → saved → cleared → resumed → confirmed → done, or failed from any of them.
 * A document that is not good is asked for once more: back to prompted.
 */
export const handoffSteps = [
  'requested',
  'prompted',
  'written',
  'verified',
  'saved',
  'cleared',
  'resumed',
  'confirmed',
  'done',
  'failed',
] as const;
export type HandoffStep = (typeof handoffSteps)[number];

/** What one of our actions in a cycle is for: stands in its intent, so that the ledger alone says what was done. */
export const handoffDeeds = ['ask', 'interrupt', 'clear', 'resume', 'go-back'] as const;
export type HandoffDeed = (typeof handoffDeeds)[number];

export interface HandoffStepTaken {
  step: HandoffStep;
  atMs: number;
  /** Why it is this step again, or why it failed. */
  reason: string | null;
}

export interface Handoff extends AgentRef {
  id: string;
  project: string;
  trigger: `rule:${string}` | 'human';
  /** Who asked for it; null: nobody wrote it down. */
  by: Caller | null;
  recipe: string;
  /** What the document has to hold, so that no other can be taken for it. */
  nonce: string;
  /** Where the document is asked for: absolute. A recipe's may hold stars until it is stored. */
  file: string;
  /** The agent's directory when it was asked. */
  cwd: string;
  oldSession: string;
  newSession: string | null;
  requestedMs: number;
  /** Every step in its order; the last is where it stands. */
  steps: HandoffStepTaken[];
  /** Of the document that was stored. */
  sha256: string | null;
  /** How often a document was asked for because the one before was not good. */
  sentBack: number;
  /** A person has acknowledged that it failed. */
  acked: boolean;
}

/** One of our own actions in a cycle, as the ledger has it. */
export interface HandoffAction {
  id: string;
  deed: HandoffDeed;
  /** So many steps had been taken then. */
  after: number;
  /** What it says about itself, such as what was wrong with the document. */
  why: string | null;
  atMs: number;
  /** In the order they were written; none: nobody knows yet. */
  outcomes: { outcome: string; reason: string | null }[];
  /** The text that was typed, with its tag. */
  typed: string | null;
}

/** What one step changes besides being taken. */
export interface HandoffChange {
  newSession?: string;
  sentBack?: number;
  /** The file itself, where only a pattern was known. */
  file?: string;
  /** Stored with the step, or the step is not taken. */
  document?: { text: string; sha256: string };
}

/** An open row that Watchkeeper would not have written so. Of it only what the database itself vouches for is used. */
export interface OddHandoff {
  id: string;
  agent: string;
}

export function stepOf(handoff: Handoff): HandoffStep {
  return handoff.steps.at(-1)?.step ?? 'requested';
}

export function isOpen(handoff: Handoff): boolean {
  const step = stepOf(handoff);
  return step !== 'done' && step !== 'failed';
}

/** When the step was taken at which it stands. */
export function stepMs(handoff: Handoff): number {
  return handoff.steps.at(-1)?.atMs ?? handoff.requestedMs;
}
