import type { Sighting } from '../../model/agent.ts';
import { wholePercent } from '../../model/percent.ts';
import { type CheckVerdict, healthCheck, noThresholds, onRecord } from '../check.ts';
import { provenPersistence } from '../hold.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'context-high': true;
  }
}

/** The two highest bands, by their place: seed 000 asks for a handoff after the current work, then before anything else. */
export const highBand = 3;
export const fullBand = 4;

export const contextHigh = healthCheck({
  name: 'context-high',
  title: 'has used much of its context',
  evidence: "the client's own figure",
  why: 'Much of the context is used. After the current work is the best time for a handoff.',
  thresholds: noThresholds,
  // Whoever sits at an agent that may not be prompted sees the figure too: no reason to call anybody yet.
  ladder: { template: 'high-context', promptsMax: 1, tells: 'never', moment: 'turn-over', purpose: 'notes' },
  worth: onRecord("the client's own figure", 'The figure was what the client said.'),
  // The stay in a band holds still by itself, and its figure is the client's own.
  hold: provenPersistence,
  look: ({ view }) => inBand(view, highBand, 'warning'),
});

export function inBand(view: Sighting, index: number, severity: 'warning' | 'critical'): CheckVerdict {
  const { context, band, reading } = view;
  if (reading.state === 'ended' || reading.state === 'unknown') return { fine: `it is ${reading.state}` };
  if (context === null || band === null) return { fine: 'its context is not known' };
  const percent = Math.min(100, context.percent);
  if (band.index !== index) return { fine: `${wholePercent(percent)} % of its context is used` };
  const left = Math.max(0, context.usable - context.used);
  return {
    found: {
      severity,
      // What an agent says of itself is the least one can go by.
      confidence: context.source === 'answer' ? 0.5 : 0.95,
      sinceMs: band.sinceMs,
      evidence: [
        {
          source: context.source,
          atMs: context.atMs,
          text: `${wholePercent(percent)} % of its context is used, ${Math.round(left / 1000)}k tokens are left to use`,
        },
      ],
      action: null,
      slots: { percent: wholePercent(percent) },
    },
  };
}
