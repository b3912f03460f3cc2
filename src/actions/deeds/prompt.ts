import { randomBytes } from 'node:crypto';
import { deliveryPoints, type Proof } from '../../act/deliver.ts';
import { bandOf } from '../../decide/bands.ts';
import { typablePrompt, whyUnsafe } from '../../decide/prompt-text.ts';
import type { Action, DeedReason, PromptOutcome, Refusal } from '../../model/action.ts';
import { tagOf } from '../../model/tag.ts';
import { shown } from '../../model/text.ts';
import { type Answer, Answers, clocksMs, tagIn } from '../answers.ts';
import {
  type Deed,
  type DeedWorld,
  type Doing,
  type Done,
  type Heard,
  type OpenDeed,
  type Order,
  proofMs,
} from './deed.ts';

declare module '../../model/action.ts' {
  interface DeedNames {
    prompt: true;
  }
}

export interface PromptOrder extends Order {
  agent: string;
  text: string;
  /** It asks for something beside the agent's work. */
  isAside?: boolean;
  /** What its answer is read for. */
  asks?: 'context';
  /** Also where its context is full. */
  anyway?: boolean;
  /** Texts of earlier tries that may still be in the box. */
  leftovers?: readonly string[];
  /** Asked once more when everything else is ready: is what it is about still so? */
  isStillDue?: () => boolean;
}

type Said = Done<'confirmed' | 'queued'> & { answer?: Promise<Answer | null> | null };

/** Words in the agent's own box, proved by the tag that the client's record has of them. */
export class Prompt implements Deed<PromptOrder, Exclude<PromptOutcome, 'deferred'>> {
  readonly needs = 'nudge';
  readonly points = deliveryPoints;
  readonly passing: readonly (DeedReason | null)[] = ['human-typing', 'draft', 'pane-mode'];
  readonly answers: Answers;
  readonly #world: DeedWorld;

  constructor(world: DeedWorld) {
    this.#world = world;
    this.answers = new Answers(world);
  }

  intent({ text, isAside, asks }: PromptOrder) {
    const tag = tagOf(randomBytes(2).toString('hex'), isAside === true);
    return { text: shown(text, 4_000), tag, ...(asks === undefined ? {} : { asks }) };
  }

  whyNot({ agent, text, trigger, anyway, isStillDue }: PromptOrder): Refusal | null {
    if (isStillDue?.() === false) return 'stale';
    if (trigger === 'human' && anyway !== true && this.#isFull(agent)) return 'context-full';
    return whyUnsafe(text, this.#world.typist.hasShellBeneath(agent)) === null ? null : 'unsafe-text';
  }

  #isFull(agent: string): boolean {
    const percent = this.#world.agent(agent)?.view?.context?.percent ?? 0;
    const { bands } = this.#world.config();
    return bandOf(percent, bands) === bands.length;
  }

  against({ agent }: PromptOrder): Promise<Refusal[]> {
    return this.#world.typist.against(agent);
  }

  async do({ agent, text, leftovers = [] }: PromptOrder, action: Action, doing: Doing): Promise<Said> {
    const tag = tagIn(action) ?? '';
    const answer = this.answers.to(action);
    const typable = typablePrompt(text, tag, this.#world.typist.hasShellBeneath(agent));
    if (typable === null) return { outcome: 'refused', reason: 'unsafe-text', proof: null, proofMs: null };
    const delivery = { text: typable, mark: `[${tag}]`, tag, proofMs, leftovers };
    return { ...(await this.#world.typist.type({ ...action, agent }, delivery, doing)), answer };
  }

  /** The hook says the same sooner; it runs also when the prompt is only queued. */
  proves({ action, isBeingDone, wasBusy }: OpenDeed, heard: Heard): Proof | null {
    const tag = tagIn(action) ?? '';
    if ('hook' in heard) {
      const { hook, atMs } = heard.hook;
      if (hook.fact.kind !== 'prompt' || hook.subagent !== null || !hook.fact.tags.includes(tag)) return null;
      return { queued: wasBusy, source: 'hook', nameless: false, atMs };
    }
    const { fact, atMs } = heard.event;
    if ((fact.kind !== 'prompt' && fact.kind !== 'queued') || atMs < action.atMs - clocksMs) return null;
    const queued = fact.kind === 'queued';
    // While it compacts, the client records that it queued something, but not what. The tag follows later.
    const nameless = queued && fact.chars === 0 && isBeingDone && atMs >= action.atMs;
    if (!nameless && !fact.tags.includes(tag)) return null;
    return { queued, source: 'transcript', nameless, atMs };
  }

  begun(action: Action, concluded: Promise<void>): void {
    this.answers.follow(action, concluded);
  }

  refused(action: Action): void {
    this.answers.forget(action);
  }
}
