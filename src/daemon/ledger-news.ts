import type { Action, ActionOutcome } from '../model/action.ts';
import type { Caller } from '../model/caller.ts';
import type { Json } from '../model/event.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { Store } from '../model/store.ts';
import type { Because, DeedNews } from './news.ts';

type Ledger = Pick<Store, 'intend' | 'conclude' | 'openActions'>;

interface Meant {
  action: Action;
  because: Because | null;
}

const meantMax = 1_000;

/** The ledger, with somebody who hears of every outcome and of what it was because of. What cannot be written is heard too. */
export function heardLedger(
  ledger: Ledger,
  trouble: (id: string) => Omit<Because, 'more'> | null,
  heard: (news: DeedNews) => void,
): Ledger {
  const meant = new Map<string, Meant>();
  const note = (action: Action) => {
    // In this moment: by the time it is done the trouble may be over.
    const found = action.finding === null ? null : trouble(action.finding);
    const more = Array.isArray(action.intent.findings) ? action.intent.findings.length - 1 : 0;
    const because = found === null ? null : { ...found, more };
    keepNewest(meant, action.id, { action, because }, meantMax);
  };
  return {
    intend: (action) => {
      note(action);
      return ledger.intend(action);
    },
    conclude: (outcome) => {
      const one = meant.get(outcome.actionId);
      // That it was taken up is no end of it: the answer is told.
      if (one !== undefined && outcome.outcome !== 'reacted') heard(newsOf(one, outcome));
      return ledger.conclude(outcome);
    },
    openActions: async (host) => {
      const open = await ledger.openActions(host);
      if (open.ok) for (const { action } of open.value) note(action);
      return open;
    },
  };
}

function newsOf({ action, because }: Meant, { outcome, reason, proof }: ActionOutcome): DeedNews {
  const { agent, kind, trigger, intent } = action;
  return {
    kind: 'deed',
    agent,
    deed: kind,
    trigger,
    by: typeof intent.by === 'string' ? (intent.by as Caller) : null,
    text: textIn(intent.text ?? intent.command ?? intent.authority ?? intent.check),
    tag: textIn(intent.tag),
    channels: Array.isArray(intent.channels) ? intent.channels.filter((name) => typeof name === 'string') : [],
    outcome,
    reason,
    answerMs: typeof proof?.answer_ms === 'number' ? proof.answer_ms : null,
    because,
  };
}

function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
