import type { HookFact } from '../model/hook.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { UntrustedText } from '../model/text.ts';

/** What the hooks of one session have said so far, folded into what still matters. */
export interface HookFacts {
  turn: 'none' | 'open' | 'closed';
  /** How many turns have begun. */
  turns: number;
  /** When the turn began or ended. */
  turnAtMs: number;
  calls: Map<string, { tool: string; sinceMs: number }>;
  /** A dialog opened for this tool, and its tool has not ended since. Whether it was answered, hooks do not tell. */
  permission: { tool: string; sinceMs: number; asks: UntrustedText | null } | null;
  compactingSinceMs: number | null;
  subagents: Map<string, number>;
  failed: { error: string; text: UntrustedText; atMs: number } | null;
  lastAtMs: number;
}

const callsMax = 1_000;
const subagentsMax = 1_000;

export function newHookFacts(): HookFacts {
  return {
    turn: 'none',
    turns: 0,
    turnAtMs: 0,
    calls: new Map(),
    permission: null,
    compactingSinceMs: null,
    subagents: new Map(),
    failed: null,
    lastAtMs: 0,
  };
}

export function takeHook(facts: HookFacts, fact: HookFact, subagent: string | null, atMs: number): void {
  facts.lastAtMs = Math.max(facts.lastAtMs, atMs);
  switch (fact.kind) {
    case 'session-start':
      facts.compactingSinceMs = null;
      // After a compaction the same conversation goes on.
      if (fact.source !== 'compact') close(facts, atMs);
      return;
    case 'prompt':
      facts.failed = null;
      // While a turn is open the prompt is only queued; if that turn was interrupted, which hooks do not tell, it begins one.
      if (facts.turn !== 'open') open(facts, atMs);
      return;
    case 'turn-end':
      close(facts, atMs);
      return;
    case 'turn-failed':
      close(facts, atMs);
      facts.failed = { error: fact.error, text: fact.text, atMs };
      return;
    case 'tool-start':
      facts.compactingSinceMs = null;
      // A subagent's tools are not the conversation's own.
      if (subagent !== null) return;
      if (facts.turn !== 'open') open(facts, atMs);
      if (facts.calls.size < callsMax) facts.calls.set(fact.id, { tool: fact.tool, sinceMs: atMs });
      return;
    case 'tool-end':
      facts.calls.delete(fact.id);
      if (facts.permission?.tool === fact.tool) facts.permission = null;
      return;
    case 'permission':
      facts.permission = { tool: fact.tool, sinceMs: atMs, asks: fact.asks };
      return;
    case 'compact-start':
      facts.compactingSinceMs = atMs;
      return;
    case 'compact-end':
      facts.compactingSinceMs = null;
      return;
    case 'subagent-start':
      keepNewest(facts.subagents, fact.id, atMs, subagentsMax);
      return;
    case 'subagent-end':
      facts.subagents.delete(fact.id);
      return;
    case 'session-end':
    case 'allowed':
    case 'other':
      return;
  }
}

function open(facts: HookFacts, atMs: number): void {
  facts.turn = 'open';
  facts.turns += 1;
  facts.turnAtMs = atMs;
}

function close(facts: HookFacts, atMs: number): void {
  facts.turn = 'closed';
  facts.turnAtMs = atMs;
  facts.calls.clear();
  facts.permission = null;
  facts.failed = null;
  facts.compactingSinceMs = null;
}
