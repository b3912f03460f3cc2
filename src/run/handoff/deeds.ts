import type { Move } from '../../decide/handoff/cycle.ts';
import { askAgainText, type DocumentProblem, requestText, resumeText } from '../../decide/handoff/document.ts';
import type { Filled } from '../../decide/templates.ts';
import type { AgentView } from '../../model/agent.ts';
import type { HandoffDeed } from '../../model/handoff.ts';
import type { Clock } from '../../model/world.ts';
import { allow, withdraw } from '../allowances.ts';
import type { Commander } from '../commander.ts';
import type { Config } from '../config/schema.ts';
import type { Home } from '../home.ts';
import type { Prompter } from '../prompter.ts';
import type { Cycle } from './cycle.ts';

interface DeedParts {
  home: Home;
  clock: Clock;
  config: () => Config;
  prompter: Pick<Prompter, 'prompt'>;
  commander: Pick<Commander, 'clear' | 'resume' | 'interrupt'>;
  /** Why the document is asked for. */
  why: (cycle: Cycle) => string;
}

type Typed = Extract<Move, { do: HandoffDeed }>;

/** What a handoff does to an agent. Each is an action of the ledger that names it, so that a crash loses nothing. */
export class HandoffDeeds {
  readonly #parts: DeedParts;

  constructor(parts: DeedParts) {
    this.#parts = parts;
  }

  /** False: it can never be said. */
  async do(cycle: Cycle, move: Typed, view: AgentView): Promise<boolean> {
    switch (move.do) {
      case 'ask':
        return this.#ask(cycle, move.problems, view);
      case 'resume':
        return this.#say(cycle, 'resume', resumeText(this.#place(cycle), this.#parts.config().templates), null);
      case 'interrupt': {
        const done = await this.#parts.commander.interrupt(view.agent, cycle.about('interrupt', null));
        return this.#noted(cycle, done);
      }
      case 'clear': {
        const { oldSession } = cycle.handoff;
        return this.#noted(cycle, await this.#parts.commander.clear(view.agent, this.#for(cycle, 'clear', oldSession)));
      }
      case 'go-back': {
        const { oldSession, newSession } = cycle.handoff;
        const order = this.#for(cycle, 'go-back', newSession ?? '');
        return this.#noted(cycle, await this.#parts.commander.resume(view.agent, oldSession, order));
      }
    }
  }

  /** In manual permission mode it may write this one file with nobody there. Also after a restart. */
  allow(cycle: Cycle, view: AgentView): void {
    if (cycle.allowance !== null) return;
    const { file, oldSession } = cycle.handoff;
    const untilMs = this.#parts.clock.nowMs() + 4 * this.#parts.config().handoff.deadlineMinutes * 60_000;
    const { pid, startTicks } = view.process;
    const allowed = allow(this.#parts.home, { pid, startTicks, sessionId: oldSession, file, untilMs });
    // Without it the agent may still be allowed to write there, or a person answers the dialog.
    if (allowed.ok) cycle.allowance = allowed.value;
  }

  disallow(cycle: Cycle): void {
    if (cycle.allowance !== null) withdraw(this.#parts.home, cycle.allowance);
    cycle.allowance = null;
  }

  #ask(cycle: Cycle, problems: readonly DocumentProblem[], view: AgentView): Promise<boolean> {
    const { nonce } = cycle.handoff;
    const words = this.#parts.config().templates;
    const background = view.background.map(({ id }) => id);
    const why = this.#parts.why(cycle);
    const text =
      problems.length === 0
        ? requestText({ ...this.#place(cycle), nonce, why, background }, words)
        : askAgainText(problems, { ...this.#place(cycle), nonce }, words);
    const poor = problems.length === 0 ? null : problems.map((problem) => problem.words).join(', ');
    this.allow(cycle, view);
    return this.#say(cycle, 'ask', text, poor);
  }

  async #say(cycle: Cycle, deed: 'ask' | 'resume', filled: Filled, why: string | null): Promise<boolean> {
    if (!filled.ok) return false;
    const result = await this.#parts.prompter.prompt({
      agent: cycle.handoff.agent,
      text: filled.text,
      trigger: 'handoff',
      finding: null,
      waitMs: 0,
      about: cycle.about(deed, why),
      leftovers: cycle.leftovers(deed),
      quietAbout: cycle.lastRefusal,
    });
    return this.#noted(cycle, result);
  }

  #noted(cycle: Cycle, { outcome, reason }: { outcome: string; reason: string | null }): true {
    cycle.lastRefusal = outcome === 'refused' ? reason : null;
    if (outcome === 'refused') cycle.pause(this.#parts.clock.monotonicMs());
    return true;
  }

  #for(cycle: Cycle, deed: HandoffDeed, session: string) {
    return { about: cycle.about(deed, null), leftovers: cycle.leftovers(deed), session };
  }

  #place({ handoff }: Cycle) {
    return { file: handoff.file, projectDir: handoff.cwd };
  }
}
