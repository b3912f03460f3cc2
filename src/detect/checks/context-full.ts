import { healthCheck, noThresholds, onRecord, tells } from '../check.ts';
import { provenPersistence } from '../hold.ts';
import { fullBand, inBand } from './context-high.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'context-full': true;
  }
}

export const contextFull = healthCheck({
  name: 'context-full',
  title: 'has used nearly all of its context',
  evidence: "the client's own figure",
  why: 'Nearly all of the context is used, and the next step may not fit.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: onRecord("the client's own figure", 'The figure was what the client said.'),
  hold: provenPersistence,
  look: ({ view }) => inBand(view, fullBand, 'critical'),
});
