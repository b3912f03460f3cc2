/** What a client's own record says, in words all clients share. */
import type { ErrorKind } from './error-kind.ts';
import type { UntrustedText } from './text.ts';

export interface TokenUsage {
  input: number;
  cacheRead: number;
  cacheCreate: number;
  output: number;
}

/** What a call that may leave work behind says of it, in the agent's own words. Not recorded with the call. */
export interface CallWords {
  description: UntrustedText | null;
  /** The subagent's type, the command's name. */
  label: UntrustedText | null;
}

export interface StartedWork {
  kind: 'shell' | 'subagent';
  id: string;
  /** Where it writes, as the client says; absolute. */
  output: string | null;
}

/** What a call is for. `note`: keeps the agent's own lists; `delegate`: a subagent does it. */
export type CallAct = 'look' | 'change' | 'run' | 'wait' | 'ask' | 'note' | 'delegate';

/** A call as the checks compare it; its text is not recorded. */
export interface CallSign {
  /** Equal for equal tool and arguments. */
  hash: string;
  /** The command, path or query, cut short. */
  target: string;
  act: CallAct;
  /** Returns at once unless a person is asked first. */
  quick: boolean;
  /** What an edit takes out and puts in, where the client says both. */
  edit: { from: string; to: string } | null;
}

export interface ResultSign {
  /** Equal for outputs that say the same, whatever the times, pids and temp paths in them. Dear: ask last. */
  readonly hash: string;
  /** Equal for failures that say the same wherever it happens: with their numbers, without lines of files. As dear. */
  readonly problem: string;
  /** Of its first characters: another start means another hash. */
  start: string;
  /** How it begins. */
  lead: string;
  /** Of a long output at least so many. */
  chars: number;
  /** An error that is not the agent's. */
  excuse: 'rejected' | 'sibling' | null;
}

export type SessionFact =
  /** A turn begins. `mid-turn` prompts are taken in by the running turn. `command`: the user's own, by its name. */
  | {
      kind: 'prompt';
      origin: 'typed' | 'queued' | 'client' | 'mid-turn';
      chars: number;
      tags: string[];
      command?: string;
    }
  /** One of the client's own: no turn. */
  | { kind: 'command'; name: string }
  /** Typed, but there is no such command: the client did nothing. */
  | { kind: 'unknown-command'; name: string }
  /** A request to the model went out. The same digest again without a reply in between is a retry. */
  | { kind: 'request'; digest: string }
  /** `isCut`: the record has only the beginning of the text. */
  | {
      kind: 'reply';
      model: string;
      messageId: string;
      usage: TokenUsage | null;
      ends: boolean;
      text: UntrustedText;
      isCut?: boolean;
    }
  /** `asks`: what it wants to do, for whoever has to allow it; not recorded. */
  | {
      kind: 'tool-call';
      id: string;
      tool: string;
      about: CallWords | null;
      sign?: CallSign;
      asks?: UntrustedText | null;
    }
  | { kind: 'tool-result'; id: string; isError: boolean; started: StartedWork | null; sign?: ResultSign }
  | { kind: 'background-ended'; id: string; status: string; text: UntrustedText | null }
  | { kind: 'turn-end'; durationMs: number | null; pendingSubagents: number }
  | { kind: 'api-error'; error: ErrorKind; status: number | null; text: UntrustedText; resetsAtMs: number | null }
  | { kind: 'retry'; attempt: number; attemptsMax: number; status: number | null; untilMs: number }
  | { kind: 'interrupted' }
  | { kind: 'compacted'; trigger: string; tokensBefore: number | null; tokensAfter: number | null }
  | { kind: 'cost'; usd: number }
  | { kind: 'queued'; chars: number; tags: string[] }
  | { kind: 'progress' };

export interface SessionEvent {
  atMs: number;
  /** The client's own id of the record, or its place in the file: makes the event's row unique. */
  key: string;
  fact: SessionFact;
}
