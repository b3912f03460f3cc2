import { waitWords } from '../../decide/wait-words.ts';
import type { Open } from '../../findings/open-incident.ts';
import { fail, ok } from '../../model/result.ts';
import { shown } from '../../model/text.ts';
import { time } from '../../model/time.ts';
import { latelyDocument } from '../ledger-document.ts';
import { findingDocument } from '../status.ts';
import type { Doors } from './doors.ts';
import { agentField, defineRequest } from './request.ts';

/** Why an agent is seen and treated as it is, and what was found and done lately. */
export const why = defineRequest({
  name: 'why',
  who: 'anyone',
  input: { agent: agentField },
  answer: async ({ agent }, doors) => {
    const now = whyNow(agent, doors);
    if (now === null) return fail('no-agent', `no agent \`${agent}\``);
    const lately = await doors.record(agent);
    return ok({ v: 1, ...now, host: doors.host.name, ...latelyDocument(lately, doors.host.name) });
  },
});

function whyNow(name: string, { acting, board, clock, quietUntilMs }: Doors) {
  const view = board.view(name);
  if (view === null) return null;
  const handoff = acting.handoffs.next(name);
  const coming = acting.handoffs.coming(name);
  const mine = board.open().filter(({ incident }) => incident.agent === name);
  const { state, detail, source, confidence, sinceMs, seenAtMs } = view.reading;
  const word = detail === null ? state : `${state}/${detail}`;
  const fired = view.findings.map(findingDocument);
  const text = `${word}, confidence ${confidence}, read ${time(seenAtMs)}`;
  return {
    agent: name,
    state: word,
    authority: view.authority,
    evidence: [{ source, at: time(sinceMs), text }, ...fired.flatMap(({ evidence }) => evidence)],
    fired: fired.map(({ evidence: _shownAbove, ...trouble }) => trouble),
    not_fired: board.fine(name),
    hold: acting.holdOn(name),
    next: [
      ...(handoff === null ? [] : [{ at: null, what: handoff }]),
      ...(coming === null ? [] : [{ at: timeOrNull(quietUntilMs()), what: `hand its context over (${coming})` }]),
      ...mine.map((open) => nextDocument(open, clock.nowMs())),
    ],
  };
}

function nextDocument(
  { incident, step, retryAtMs, lastRefusal }: Open,
  nowMs: number,
): { at: string | null; what: string } {
  const check = incident.subject === null ? incident.check : `${incident.check} ${shown(incident.subject, 100)}`;
  if (step.do !== 'wait' && nowMs < retryAtMs) {
    const reason = lastRefusal === null ? 'the last message did not get through' : `refused (${lastRefusal})`;
    return { at: time(retryAtMs), what: `wait: ${reason} (${check})` };
  }
  if (step.do === 'prompt') return { at: null, what: `prompt it (${check})` };
  if (step.do === 'tell') return { at: null, what: `tell a human (${check})` };
  // What a start holds back is what comes next, and it is known when.
  const then = step.reason === 'starting' ? `, then ${step.for === 'tell' ? 'tell a human' : 'prompt it'}` : '';
  return { at: timeOrNull(step.untilMs), what: `wait: ${waitWords(step.reason)}${then} (${check})` };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : time(ms);
}
