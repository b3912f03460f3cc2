import type { Actions } from '../actions/actions.ts';
import { allow, withdraw, withdrawFrom } from '../actions/allowances.ts';
import type { Config } from '../config/schema.ts';
import type { DocumentProblem } from '../decide/handoff/document.ts';
import type { Move } from '../decide/handoff/moves.ts';
import {
  againWords,
  askWords,
  documentRecipe,
  recipeCalled,
  resumeWords,
  type Words,
} from '../decide/handoff/recipe.ts';
import type { Home } from '../home/home.ts';
import type { AgentView } from '../model/agent.ts';
import { type Handoff, type HandoffDeed, stepOf } from '../model/handoff.ts';
import type { Clock } from '../model/world.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import type { Cycle } from './cycle.ts';
import { runningWork } from './work.ts';

/** What a handoff does to its agent. */
export type HandoffActions = Pick<Actions, 'prompt' | 'clear' | 'resume' | 'run' | 'interrupt'>;

interface DeedParts {
  home: Home;
  clock: Clock;
  config: () => Config;
  actions: HandoffActions;
  agent: (name: string) => Pick<WatchedAgent, 'sessionId'> | null;
  /** The ids of the background work that runs for an agent, whoever told of it. */
  running: (agent: string) => readonly string[];
  /** Why the document is asked for. */
  why: (cycle: Cycle) => string;
}

/** The agent has been asked for its document. */
export function isWriting(handoff: Handoff): boolean {
  const step = stepOf(handoff);
  return step === 'prompted' || step === 'written';
}

/** What will never be different. */
type Never = 'unsafe-text' | 'no-recipe';
export type TypedMove = Extract<Move, { do: HandoffDeed }>;

/** What a handoff does to an agent. Each is an action of the ledger that names it, so that a crash loses nothing. */
export class HandoffDeeds {
  readonly #parts: DeedParts;

  constructor(parts: DeedParts) {
    this.#parts = parts;
  }

  /** Why it can never be said; null: it was tried. */
  async do(cycle: Cycle, move: TypedMove, view: AgentView): Promise<Never | null> {
    switch (move.do) {
      case 'ask':
        return this.#ask(cycle, move.problems, view);
      case 'resume':
        return this.#resume(cycle);
      case 'interrupt': {
        const done = await this.#parts.actions.interrupt(view, cycle.order('interrupt', null));
        return this.#noted(cycle, done);
      }
      case 'clear': {
        const { oldSession } = cycle.handoff;
        return this.#noted(cycle, await this.#parts.actions.clear(view, this.#for(cycle, 'clear', oldSession)));
      }
      case 'go-back': {
        const { oldSession, newSession } = cycle.handoff;
        const order = this.#for(cycle, 'go-back', newSession ?? '');
        return this.#noted(cycle, await this.#parts.actions.resume(view, oldSession, order));
      }
    }
  }

  /** Each time it is looked at: whether it may write its document without a dialog. */
  permit(cycle: Cycle, view: AgentView, mayAct: boolean): void {
    if (mayAct && isWriting(cycle.handoff)) this.#allow(cycle, view);
    // Before its first step it may have been asked a moment ago.
    else if (!mayAct || stepOf(cycle.handoff) !== 'requested') this.#disallowAll(cycle, view);
  }

  disallow(cycle: Cycle): void {
    if (typeof cycle.allowance !== 'string') return;
    withdraw(this.#parts.home, cycle.allowance);
    cycle.allowance = null;
  }

  /** Also what an earlier run allowed. */
  #disallowAll(cycle: Cycle, view: AgentView): void {
    if (cycle.allowance === undefined) withdrawFrom(this.#parts.home, view.process);
    this.disallow(cycle);
    cycle.allowance = null;
  }

  /** In manual permission mode it may write this one file with nobody there. Also after a restart. */
  #allow(cycle: Cycle, view: AgentView): void {
    const nowMs = this.#parts.clock.nowMs();
    const lastsMs = 4 * this.#parts.config().handoff.deadlineMinutes * 60_000;
    // Given anew in time: at a usage limit a step lasts for hours.
    if (typeof cycle.allowance === 'string' && nowMs < cycle.allowedUntilMs - lastsMs / 2) return;
    const { file, oldSession } = cycle.handoff;
    // Of a pattern nobody knows which file it will be.
    if (cycle.handoff.recipe !== documentRecipe && file.includes('*')) return;
    const untilMs = nowMs + lastsMs;
    const { pid, startTicks } = view.process;
    const allowed = allow(this.#parts.home, { pid, startTicks, sessionId: oldSession, file, untilMs });
    // Without it the agent may still be allowed to write there, or a person answers the dialog.
    if (!allowed.ok) return;
    cycle.allowance = allowed.value;
    cycle.allowedUntilMs = untilMs;
  }

  #ask(cycle: Cycle, problems: readonly DocumentProblem[], view: AgentView): Promise<Never | null> {
    const { nonce } = cycle.handoff;
    const { templates } = this.#parts.config();
    const recipe = this.#recipe(cycle);
    if (recipe === undefined) return Promise.resolve('no-recipe');
    const background = runningWork(view, this.#parts.running(view.agent));
    const request = { ...this.#place(cycle), nonce, why: this.#parts.why(cycle), background };
    const isFirst = problems.length === 0;
    const words = isFirst ? askWords(recipe, request, templates) : againWords(recipe, problems, request, templates);
    const poor = isFirst ? null : problems.map((problem) => problem.words).join(', ');
    this.#allow(cycle, view);
    return this.#say(cycle, 'ask', words, poor);
  }

  /** By our own words where the recipe is in the configuration no more: the context is cleared already. */
  #resume(cycle: Cycle): Promise<Never | null> {
    const { templates } = this.#parts.config();
    return this.#say(cycle, 'resume', resumeWords(this.#recipe(cycle) ?? null, this.#place(cycle), templates), null);
  }

  #recipe({ handoff }: Cycle) {
    return recipeCalled(handoff.recipe, this.#parts.config().handoff.recipes);
  }

  async #say(cycle: Cycle, deed: 'ask' | 'resume', words: Words, why: string | null): Promise<Never | null> {
    if (!words.ok) return 'unsafe-text';
    const { host, agent, oldSession, newSession } = cycle.handoff;
    const session = deed === 'ask' ? oldSession : (newSession ?? '');
    if (words.isCommand) {
      return this.#noted(
        cycle,
        await this.#parts.actions.run(cycle.handoff, words.text, this.#for(cycle, deed, session, why)),
      );
    }
    const result = await this.#parts.actions.prompt({
      ...{ host, agent },
      text: words.text,
      trigger: 'handoff',
      finding: null,
      waitMs: 0,
      ...cycle.order(deed, why),
      isAside: deed === 'ask',
      leftovers: cycle.leftovers,
      quietAbout: cycle.lastRefusal,
      // Somebody may have changed it while others typed.
      isStillDue: () => this.#parts.agent(agent)?.sessionId === session,
    });
    return this.#noted(cycle, result);
  }

  #noted(cycle: Cycle, { outcome, reason }: { outcome: string; reason: string | null }): null {
    cycle.lastRefusal = outcome === 'refused' ? reason : null;
    if (outcome === 'refused') cycle.pause(this.#parts.clock.monotonicMs());
    return null;
  }

  #for(cycle: Cycle, deed: HandoffDeed, session: string, why: string | null = null) {
    return { ...cycle.order(deed, why), leftovers: cycle.leftovers, session };
  }

  #place({ handoff }: Cycle) {
    return { file: handoff.file, projectDir: handoff.cwd };
  }
}
