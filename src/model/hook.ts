import type { UntrustedText } from './text.ts';
import type { ProcessId } from './world.ts';

/** What a client's hooks say, in words all clients share. */
export type HookFact =
  | { kind: 'session-start'; source: string }
  | { kind: 'session-end'; reason: string }
  /** Also of a prompt that is queued behind a running turn. */
  | { kind: 'prompt'; chars: number; tags: string[] }
  | { kind: 'turn-end' }
  | { kind: 'turn-failed'; error: string; text: UntrustedText }
  | { kind: 'tool-start'; id: string; tool: string }
  | { kind: 'tool-end'; id: string; tool: string }
  /** A dialog opens for this tool; that it was answered, no hook tells. `asks`: what it wants to do; not recorded. */
  | { kind: 'permission'; tool: string; asks: UntrustedText | null }
  /** A dialog would have opened, had our hook not allowed it. */
  | { kind: 'allowed'; tool: string }
  | { kind: 'compact-start' }
  | { kind: 'compact-end' }
  | { kind: 'subagent-start'; id: string }
  | { kind: 'subagent-end'; id: string }
  /** Says nothing about what the agent does. */
  | { kind: 'other' };

/** Whose event it is: the client's process, by pid and start time; null where none was found above the hook. */
export type HookOwner = Pick<ProcessId, 'pid' | 'startTicks'> | null;

export interface HookEvent {
  owner: HookOwner;
  sessionId: string;
  cwd: string | null;
  /** The client's own name of the event. */
  name: string;
  /** False for an event this reader has never heard of. */
  known: boolean;
  /** Of a subagent, not of the conversation itself. */
  subagent: string | null;
  fact: HookFact;
}

/** How much of an account's allowance is used. */
export interface UsageLimit {
  name: string;
  percent: number;
  resetsAtMs: number | null;
}

/** What the client tells its status line. */
export interface StatusLine {
  owner: HookOwner;
  sessionId: string;
  cwd: string | null;
  version: string | null;
  model: string | null;
  costUsd: number | null;
  window: number | null;
  /** null before the first reply, and after a new start. */
  used: number | null;
  limits: UsageLimit[];
}

export type HookInboxItem = { kind: 'hook'; hook: HookEvent } | { kind: 'statusline'; line: StatusLine };
