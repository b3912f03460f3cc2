import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, DeedReason, PromptOutcome, Refusal } from '../model/action.ts';
import type { Authority, Sighting } from '../model/agent.ts';
import type { AgentRef } from '../model/agent-ref.ts';
import type { Caller } from '../model/caller.ts';
import type { Incident } from '../model/incident.ts';
import type { Answer } from './answers.ts';
import { compactOrder, type ForHandoff, handoffOrder } from './deeds/command.ts';
import type { Done } from './deeds/deed.ts';
import type { InterruptOrder } from './deeds/interrupt.ts';
import { notifyOrder } from './deeds/notify.ts';
import type { PromptOrder } from './deeds/prompt.ts';
import { Engine } from './engine.ts';

/** What came of one deed: the document that others script against. */
interface Result<Outcome extends string> {
  id: string;
  agent: string;
  outcome: Outcome;
  reason: DeedReason | null;
  proof: 'hook' | 'transcript' | 'registry' | null;
  proof_ms: number | null;
}

export type CommandResult = Result<'confirmed' | 'refused' | 'uncertain'>;
export type PromptResult = Result<PromptOutcome> & { tag: string; answer: Answer | null };
export type PromptRequest = Omit<PromptOrder, 'waitMs'> & {
  /** How long to wait for a moment that fits, and then for the answer. */
  waitMs: number;
};

/** What would be done, and everything that speaks against it. */
export interface DryRun {
  would: string;
  against: Refusal[];
}

/** Whatever is done to an agent or told to a person, in the words of those who want it. The engine does it. */
export class Actions extends Engine {
  async prompt(request: PromptRequest): Promise<PromptResult> {
    const did = await this.do('prompt', request);
    const answer = did.proof === null || request.waitMs === 0 ? null : (did.answer ?? null);
    const isLate = did.outcome === 'refused' && request.waitMs > 0 && this.deeds.prompt.passing.includes(did.reason);
    return {
      ...shownAs(request, did),
      outcome: isLate ? 'deferred' : did.outcome,
      tag: String(did.action.intent.tag),
      answer: answer === null ? null : await Promise.race([answer, sleep(request.waitMs, null, { ref: false })]),
    };
  }

  async compact(agent: AgentRef, by: Caller): Promise<CommandResult> {
    return shownAs(agent, await this.do('command', compactOrder(agent, by)));
  }

  /** Only a handoff whose document is stored may ask for it. */
  async clear(agent: AgentRef, handoff: ForHandoff): Promise<CommandResult> {
    return shownAs(agent, await this.do('command', handoffOrder(agent, 'clear', handoff)));
  }

  /** Brings back the session with exactly this id. */
  async resume(agent: AgentRef, session: string, handoff: ForHandoff): Promise<CommandResult> {
    return shownAs(agent, await this.do('command', handoffOrder(agent, { resume: session }, handoff)));
  }

  /** A command of the user's own, as a recipe names it; never one of the client's. */
  async run(agent: AgentRef, text: string, handoff: ForHandoff): Promise<CommandResult> {
    return shownAs(agent, await this.do('command', handoffOrder(agent, { run: text }, handoff)));
  }

  /** One Escape to an agent at work. `about`: as a part of a handoff. */
  async interrupt(agent: AgentRef, order: Pick<InterruptOrder, 'by' | 'about' | 'waitMs'>): Promise<CommandResult> {
    return shownAs(agent, await this.do('interrupt', interruptOrder(agent, order)));
  }

  async wouldInterrupt(agent: AgentRef): Promise<DryRun> {
    const would = 'one key would be pressed, which ends the turn that runs';
    return { would, against: await this.against('interrupt', interruptOrder(agent, { by: null })) };
  }

  /** `some`: not through every channel. */
  async tell(incident: Incident, view: Sighting | null, sinceMs = incident.openedMs): Promise<'all' | 'some' | 'none'> {
    const { outcome } = await this.do('notify', notifyOrder(incident, view, sinceMs));
    if (outcome === 'told') return 'all';
    return this.deeds.notify.hasReached(incident) ? 'some' : 'none';
  }

  /** Whether it is on record, too. */
  async setAuthority(
    { host, agent }: AgentRef,
    authority: Authority,
    by: Caller,
    change: () => Promise<boolean>,
  ): Promise<boolean> {
    const order = { host, agent, trigger: 'human', finding: null, word: { authority }, by, change } as const;
    return (await this.do('authority', order)).reason === null;
  }

  async acknowledge({ host, agent, id, check }: Incident, denied: boolean, by: Caller, change: () => Promise<boolean>) {
    const order = { host, agent, trigger: 'human', finding: id, word: { check, denied }, by, change } as const;
    await this.do('ack', order);
  }

  /** Was a turn that ended so at this time interrupted by us? */
  interruptedByUs(agent: string, atMs: number): boolean {
    return this.deeds.interrupt.wasOurs(agent, atMs);
  }
}

function interruptOrder(
  { host, agent }: AgentRef,
  order: Pick<InterruptOrder, 'by' | 'about' | 'waitMs'>,
): InterruptOrder {
  return { host, agent, trigger: order.about === undefined ? 'human' : 'handoff', finding: null, ...order };
}

function shownAs<Outcome extends string>({ agent }: AgentRef, did: Done<Outcome> & { action: Action }) {
  const { action, outcome, reason, proof, proofMs } = did;
  return { id: action.id, agent, outcome, reason, proof: proof?.source ?? null, proof_ms: proofMs };
}
