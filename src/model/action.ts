import type { AgentOrHost } from './agent-ref.ts';
import type { Json } from './event.ts';

export type Trigger = `rule:${string}` | 'human' | 'handoff';

/**
 * Whatever is done has a name, by which the ledger knows it. Each deed of `actions/deeds/` puts its own in from its own file
 * (`declare module`), so that a deed is one file.
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: every deed adds to it.
export interface DeedNames {}

export type DeedKind = keyof DeedNames;
/** What is taken out of the tables is put on record by the tables themselves, in the same moment. */
type ActionKind = DeedKind | WordKind | 'redact';

/** What people say to Watchkeeper about itself: it is so at once, and its row comes after. */
export type WordKind = 'pause' | 'unpause' | 'stop';

/** Why nothing was typed. */
export type Refusal =
  | 'waiting-permission'
  | 'waiting-question'
  | 'waiting-setup'
  /** Neither its registry, nor hooks and screen together, say what it is doing. */
  | 'unsure'
  | 'not-agent'
  | 'pane-dead'
  | 'pane-mode'
  | 'synchronized'
  | 'human-typing'
  /** A terminal program that draws tmux itself (`tmux -CC`) has the pane; when a person types there is not to be seen. */
  | 'control-client'
  | 'draft'
  | 'paused'
  | 'watch-mode'
  /** A rule's wish, and the daemon has only just started. */
  | 'starting'
  /** Another Watchkeeper looks after it. */
  | 'held-elsewhere'
  /** Whether another one does cannot be known. */
  | 'no-hold'
  | 'unsafe-text'
  | 'authority'
  | 'no-ledger'
  | 'no-input-box'
  | 'busy'
  /** There is no turn to interrupt. */
  | 'not-working'
  | 'stale'
  /** More than the highest of the bands is used: it takes nothing new before a handoff. */
  | 'context-full'
  /** The client has no such command. */
  | 'unknown-command';

/** What else there is to say of how a deed ended. */
type Remark =
  /** Typed, but by the client's own record nobody knows. */
  | 'no-proof'
  /** Its turn is over without a record of the interruption. */
  | 'no-record'
  | 'left-in-box'
  /** The client began what was queued. */
  | 'went-on'
  | 'not-stored'
  /** There is no channel: it stands in the inbox. */
  | 'inbox-only'
  | 'daemon-restarted'
  | 'proved-late';

/** Why a deed ended as it did. */
export type DeedReason = Refusal | Remark;

export type PromptOutcome = 'confirmed' | 'queued' | 'refused' | 'uncertain' | 'deferred';

/** What is meant to be done; committed before anything is done. No agent: about work that none is known to have begun. */
export interface Action extends AgentOrHost {
  id: string;
  atMs: number;
  /** Read from the ledger it may also be one that a later version knows. */
  kind: ActionKind;
  trigger: Trigger;
  intent: { [key: string]: Json };
  finding: string | null;
}

/** What came of it. An action may get several: confirmed, then answered. */
export interface ActionOutcome {
  actionId: string;
  atMs: number;
  outcome: string;
  reason: string | null;
  proof: { [key: string]: Json } | null;
}

export interface LedgerEntry extends Action {
  /** What of the agent the finding is about. */
  subject: string | null;
  outcomes: Omit<ActionOutcome, 'actionId'>[];
}
