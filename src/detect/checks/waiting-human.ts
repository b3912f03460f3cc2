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
    'the dialog, by registry, hooks or screen; on record alone, a call that returns at once when let and has not',
  why: "The commonest long silence is a human's: an agent that waits for a permission or an answer.",
  thresholds: { 'waiting.notifyMinutes': minutes(2, 'How long an agent waits for a human before one is told.') },
  ladder: tells('repeat'),
  worth: {
    ground: { by: 'record', why: 'the dialog, by registry, hooks or screen' },
    right: 'Somebody answered the dialog.',
    verdicts: { 'human-answered': 'right', 'human-wrote': 'right', 'human-interrupted': 'right' },
  },
  look({ view, nowMs, missedSince }, limits) {
    const { state, detail, sinceMs, source, confidence } = view.reading;
    if (state !== 'waiting') return { fine: `it is ${state}` };
    const waitedMs = nowMs - sinceMs - missedSince(sinceMs);
    if (waitedMs < limits['waiting.notifyMinutes'] * minuteMs)
      return { fine: `it has waited ${Math.round(waitedMs / 1000)} s only`, coming: true };
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
