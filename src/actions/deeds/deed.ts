import type { Proof } from '../../act/deliver.ts';
import type { Config } from '../../config/schema.ts';
import type { ContextAnswer } from '../../decide/context-answer.ts';
import type { Action, DeedReason, Refusal, Trigger } from '../../model/action.ts';
import type { Authority } from '../../model/agent.ts';
import type { AgentOrHost } from '../../model/agent-ref.ts';
import type { Caller } from '../../model/caller.ts';
import type { Json } from '../../model/event.ts';
import type { SessionEvent } from '../../model/session-event.ts';
import type { Store } from '../../model/store.ts';
import type { Clock } from '../../model/world.ts';
import type { HeardHook } from '../../watch/agent-inbox.ts';
import type { WatchedAgent } from '../../watch/watched-agent.ts';
import type { Typist } from '../typist.ts';

/** What is asked for; each kind adds what else it takes. */
export interface Order extends AgentOrHost {
  trigger: Trigger;
  finding: string | null;
  /** Who wants it: stands in the intent. null: of a handoff from before that was written down. */
  by: Caller | null;
  /** What it is for where it is a part of something larger: stands in the intent. */
  about?: { [key: string]: Json };
  /** How long a moment that fits is waited for. */
  waitMs?: number;
  /** A refusal that is on record already and need not be written again. */
  quietAbout?: string | null;
}

/** How it ended. */
export interface Done<Outcome extends string = string, Reason extends string = DeedReason> {
  outcome: Outcome | 'refused' | 'uncertain';
  reason: Reason | null;
  proof: Proof | null;
  /** From the deed to the client's own record of it. */
  proofMs: number | null;
  /** The draft that was put aside for it is back; null: there was none. */
  draftRestored?: boolean | null;
}

/** While it is done. */
export interface Doing {
  /** false: nobody took its row, and it is done all the same. */
  hasRow: boolean;
  /** It has come to this point of its own. */
  at(point: string): Promise<void>;
  /** Waits for the proof. */
  prove(timeoutMs: number): Promise<Proof | null>;
}

/** A deed whose proof is still looked for. */
export interface OpenDeed {
  action: Action;
  isBeingDone: boolean;
  /** A turn was running when it began. */
  wasBusy: boolean;
}

/** What an agent's own record, or a hook of its client, says. */
export type Heard = { event: SessionEvent } | { hook: HeardHook };

/**
 * One kind of thing that is done and put on record. The engine asks these questions, in this order; a deed that has
 * nothing to say to one leaves it out.
 */
export interface Deed<O extends Order = Order, Outcome extends string = string, Reason extends string = DeedReason> {
  /** The authority it takes; null: a person's word about what is ours, which passes no gate. */
  readonly needs: Authority | null;
  /** The moments of doing it, in their order. A daemon may be killed at each: a test does so. */
  readonly points: readonly string[];
  /** These pass by themselves: with a `waitMs` they are waited out. */
  readonly passing?: readonly (DeedReason | null)[];
  /** Its refusals leave no row: it is asked for again at every look. */
  readonly isRefusedQuietly?: true;
  /** What stands in the row before anything is done. */
  intent(order: O): { [key: string]: Json };
  /** Nobody takes its row: is it done all the same? Left out: never. */
  isDoneWithoutRow?(order: O): boolean;
  /** What speaks against it besides the gate, such as that it is not due any more. `sinceMs`: when it was decided. */
  whyNot?(order: O, sinceMs: number): Refusal | null;
  /** What speaks against it in this moment, by a fresh look: for those who only ask. */
  against?(order: O): Promise<Refusal[]>;
  /** One effect. */
  do(order: O, action: Action, doing: Doing): Promise<Done<Outcome, Reason>>;
  /** Does this prove it? */
  proves?(open: OpenDeed, heard: Heard): Proof | null;
  /** Does the agent as it is by now prove it? */
  found?(action: Action, agent: WatchedAgent): Proof | null;
  /** The client took it, and said no. */
  saidNo?(action: Action): Refusal | null;
  /** It is on record, be it by an earlier run: what comes of it may be followed. */
  begun?(action: Action, concluded: Promise<void>): void;
  /** It was refused: nothing comes of it. */
  refused?(action: Action): void;
}

/** What the definitions work with. */
export interface DeedWorld {
  clock: Clock;
  typist: Typist;
  config: () => Config;
  agent: (name: string) => WatchedAgent | null;
  conclude: Store['conclude'];
  /** A prompt of ours was answered. `context`: what it was asked for, where it was that and makes sense. */
  answered: (action: Action, context: ContextAnswer | null, atMs: number) => void;
  hostName: string;
  environment: NodeJS.ProcessEnv;
  /** For whoever looks on. */
  notice: (line: string) => void;
}

export const proofMs = 8_000;
