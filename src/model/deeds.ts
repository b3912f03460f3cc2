import type { AgentRef } from './agent-ref.ts';

/** What was done about a trouble, by the ledger. */
export interface Deeds {
  prompts: number;
  lastPromptMs: number | null;
  tells: number;
  lastTellMs: number | null;
  /** One of the prompts arrived, by the agent's own record. */
  isProved: boolean;
  /** Texts of prompts of which nobody knows whether they arrived: they may still be in the box. */
  leftovers: string[];
}

/** A prompt of a rule, as the ledger has it. */
export interface RulePrompt extends AgentRef {
  project: string;
  trigger: `rule:${string}`;
  atMs: number;
}

/** How many of the prompts that were given their time were answered in it. */
export interface AnsweredPrompts {
  given: number;
  inTime: number;
}
