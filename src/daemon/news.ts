import type { Trigger } from '../model/action.ts';
import type { Authority, Detail, Mode, State, TurnEnd } from '../model/agent.ts';
import type { Caller } from '../model/caller.ts';
import type { CheckName } from '../model/check.ts';
import type { HandoffStep } from '../model/handoff.ts';
import type { GroundedAuthority } from '../watch/authority.ts';

/** What whoever looks on at `up` is told: what was found, what was done and because of what, what will be done and when. */
export type News =
  | Beginning
  | ({ kind: 'found' } & SeenNews & GroundedAuthority)
  | ({ kind: 'state'; before: State; beforeMs: number; tellAtMs: number | null } & SeenNews)
  /** `isKnown`: an earlier run found it. `isShownOnly`: nothing is done about it. */
  | ({
      kind: 'trouble';
      severity: 'warning' | 'critical';
      text: string;
      isKnown: boolean;
      isShownOnly: boolean;
    } & About)
  | ({ kind: 'over'; lastedMs: number } & About)
  | ({ kind: 'plan'; does: 'prompt' | 'tell'; atMs: number | null; why: string } & About)
  | { kind: 'handoff-plan'; agent: string; atMs: number; reason: string }
  | DeedNews
  | {
      kind: 'handoff';
      agent: string;
      step: HandoffStep;
      reason: string | null;
      file: string;
      trigger: string;
      tookMs: number | null;
    }
  | { kind: 'handoff-waits'; agent: string; step: HandoffStep; why: string }
  | { kind: 'authority'; agent: string; authority: Authority }
  | { kind: 'paused' | 'unpaused' | 'acts' }
  | { kind: 'mode'; mode: Mode };

export interface About {
  /** null: of the host, or of a project's work that has no agent. */
  agent: string | null;
  project: string;
  check: CheckName;
  subject: string | null;
  sinceMs: number;
}

export interface SeenNews {
  agent: string;
  state: State;
  detail: Detail | null;
  lastTurn: TurnEnd | null;
  errorKind: string | null;
  endedBadly: string | null;
  limitedUntilMs: number | null;
  percent: number | null;
}

/** Something of the ledger: an outcome, and why it was meant. */
export interface DeedNews {
  kind: 'deed';
  agent: string | null;
  deed: string;
  trigger: Trigger;
  by: Caller | null;
  /** What was typed, or said to us. */
  text: string | null;
  tag: string | null;
  channels: readonly string[];
  outcome: string;
  reason: string | null;
  answerMs: number | null;
  because: Because | null;
}

export interface Because {
  check: CheckName;
  sinceMs: number;
  /** It is about so many further troubles too. */
  more: number;
}

/** What `up` begins with. */
export interface Beginning {
  kind: 'beginning';
  agents: ({ isInTmux: boolean } & SeenNews & GroundedAuthority)[];
  /** Where the rules stand: `default` or file and line. */
  rulesFrom: string;
  mode: Mode;
  modeFrom: string;
  watchOnly: boolean;
  paused: boolean;
  /** Until when rules do nothing; null: they may. */
  quietUntilMs: number | null;
  isFirst: boolean;
  looksIn: LooksIn;
}

/** Where agents are looked for. */
export interface LooksIn {
  clients: string;
  everyMs: number;
  /** Of tmux servers; the folder where none is named. */
  servers: { socket: string; panes: number | null }[];
  tmuxFolder: string | null;
  configDirs: string[];
}
