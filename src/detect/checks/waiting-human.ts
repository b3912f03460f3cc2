import { askedWords } from '../asked.ts';
import { healthCheck, tells } from '../check.ts';
import { minuteMs, minutes, type Own } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'waiting-human': true;
  }
}

export const waitingHuman = healthCheck({
  name: 'waiting-human',
  title: 'waits for you',
  evidence:
    'the dialog, as registry, hooks or screen show it; without these, a call that would return at once if it were allowed, and has not',
  why: 'Most long silences are an agent that waits for a person to permit or to answer something.',
  thresholds: { 'waiting.notifyMinutes': minutes(2, 'How long an agent waits for a person before people are told.') },
  ladder: tells('repeat'),
  worth: {
    ground: { by: 'record', why: 'the dialog, as registry, hooks or screen show it' },
    right: 'Somebody answered the dialog.',
    verdicts: { 'human-answered': 'right', 'human-wrote': 'right', 'human-interrupted': 'right' },
  },
  look({ view, nowMs, missedSince }, limits) {
    const { state, detail, sinceMs, source, confidence } = view.reading;
    if (state !== 'waiting') return { fine: `it is ${state}` };
    const waitedMs = nowMs - sinceMs - missedSince(sinceMs);
    if (waitedMs < limits['waiting.notifyMinutes'] * minuteMs)
      return { fine: `it has waited ${Math.round(waitedMs / 1000)} s so far`, coming: true };
    return {
      found: {
        severity: 'warning',
        confidence,
        sinceMs,
        evidence: [{ source, atMs: sinceMs, text: askedWords(detail, view.asks) }],
        action: null,
      },
    };
  },
});

/** A person who reads a plan or a diff takes minutes; where no dialog is seen only what outlasts that is told. */
const presentPersonFactor = 3;

/** How long a call that asks a person may be silent on record, where there is nothing else to see. */
export function answerMaxMs(limits: Own<(typeof waitingHuman)['thresholds']>): number {
  return limits['waiting.notifyMinutes'] * presentPersonFactor * minuteMs;
}
