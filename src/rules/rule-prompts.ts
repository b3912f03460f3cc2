import type { Actions } from '../actions/actions.ts';
import type { Config } from '../config/schema.ts';
import { type NextStep, type PromptTemplate, promptsSpent } from '../decide/policy.ts';
import { fillTemplate } from '../decide/templates.ts';
import { saidTogether, setsGoing } from '../decide/together.ts';
import type { Board } from '../findings/board.ts';
import { countDeeds, later, type Open, ownSlots, retryFirstMs } from '../findings/open-incident.ts';
import type { Refusal } from '../model/action.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';

/** What rules do about a trouble. */
export type RuleActions = Pick<Actions, 'prompt' | 'drop' | 'tell'>;

interface RulePromptParts {
  store: Store;
  clock: Clock;
  config: () => Config;
  board: Pick<Board, 'view' | 'save'>;
  actions: RuleActions;
}

/** A trouble that is due to be said to its agent. */
export interface Due {
  incident: Incident;
  open: Open;
  finding: Finding | null;
  template: PromptTemplate;
}

type Said = Due & { text: string };

/** What rules say to agents: several troubles of one agent as one prompt, each counted by what the ledger has. */
export class RulePrompts {
  readonly #parts: RulePromptParts;

  constructor(parts: RulePromptParts) {
    this.#parts = parts;
  }

  /** `decide`: the next step about a trouble, asked again once the ledger was read. Whether anything was said. */
  async say(view: AgentView, due: readonly Due[], decide: (due: Due) => NextStep): Promise<boolean> {
    const leftovers = await this.#count(due);
    const still = leftovers === null ? [] : due.filter((one) => decide(one).do === 'prompt');
    const said = saidTogether(await this.#fill(saidTogether(still, view), view), view);
    const [lead] = said;
    if (lead === undefined) {
      for (const { open } of due) later(open, this.#parts.clock.nowMs());
      return false;
    }
    const result = await this.#parts.actions.prompt({
      ...{ host: view.host, agent: view.agent },
      text: said.map(({ text }) => text).join(' '),
      trigger: `rule:${lead.incident.check}`,
      by: 'rule',
      finding: lead.incident.id,
      ...(said.length > 1 ? { about: { findings: said.map(({ incident }) => incident.id) } } : {}),
      isAside: !setsGoing(lead.incident.check),
      waitMs: 0,
      leftovers: leftovers ?? [],
      quietAbout: lead.open.lastRefusal,
      isStillDue: () => this.#isStillDue(said, lead),
    });
    const nowMs = this.#parts.clock.nowMs();
    for (const { open } of said) {
      open.lastRefusal = result.outcome === 'refused' ? result.reason : null;
      if (result.outcome === 'refused') later(open, nowMs);
      else this.#wasSaid(open, nowMs);
    }
    return result.outcome !== 'refused';
  }

  /** Puts on record that it is not said, and why. */
  drop(incident: Incident, reason: Refusal): Promise<void> {
    const { host, agent, check, text, id: finding } = incident;
    return this.#parts.actions.drop(
      'prompt',
      { host, agent, trigger: `rule:${check}`, by: 'rule', finding },
      { check, text },
      reason,
    );
  }

  /**
   * Texts of theirs that may still be in the box; null: nobody knows what was done about them, or would know it after a crash: a trouble without a row would be another
   * one then, and be counted anew.
   */
  async #count(due: readonly Due[]): Promise<string[] | null> {
    const { store, clock, board } = this.#parts;
    const areSaved = await Promise.all(due.map(({ open }) => open.saved));
    for (const [n, isSaved] of areSaved.entries()) if (!isSaved && due[n] !== undefined) board.save(due[n].open);
    if (areSaved.includes(false)) return null;
    const deeds = await store.deedsAbout(due.map(({ incident }) => incident.id));
    if (!deeds.ok) return null;
    for (const { incident } of due) countDeeds(incident, deeds.value.get(incident.id), clock.nowMs());
    return [...new Set([...deeds.value.values()].flatMap((each) => each.leftovers))];
  }

  async #fill(due: readonly Due[], view: AgentView): Promise<Said[]> {
    const { clock, config } = this.#parts;
    const filled: Said[] = [];
    for (const one of due) {
      const { incident, finding, template } = one;
      const times = { nowMs: clock.nowMs(), sinceMs: finding?.sinceMs ?? incident.openedMs };
      const slots = finding?.slots ?? ownSlots(template, incident, view, times);
      const words = fillTemplate(template, slots, config().templates);
      if (words.ok) filled.push({ ...one, text: words.text });
      else {
        // Evidence that cannot be said safely is not said: a human is told instead.
        await this.drop(incident, 'unsafe-text');
        incident.prompts = promptsSpent;
      }
    }
    return filled;
  }

  #wasSaid(open: Open, nowMs: number): void {
    open.incident.prompts += 1;
    open.incident.lastPromptMs = nowMs;
    open.retryWaitMs = retryFirstMs;
    this.#parts.board.save(open);
  }

  /** In the views as they are now, which are newer than the round that decided. */
  #isStillDue(said: readonly Said[], lead: Said): boolean {
    const view = this.#parts.board.view(lead.incident.agent ?? '');
    if (view === null || saidTogether(said, view)[0] !== lead) return false;
    return said.every(({ incident: { check, subject } }) =>
      view.findings.some((found) => found.check === check && found.subject === subject && found.standing === 'seen'),
    );
  }
}
