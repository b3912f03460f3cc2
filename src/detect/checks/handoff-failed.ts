import { noThresholds, onRecord, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'handoff-failed': true;
  }
}

export const handoffFailed = outsideCheck({
  name: 'handoff-failed',
  title: 'could not be handed over to a fresh context',
  evidence: 'our own record of its steps',
  why: 'After a failed handoff the agent is left without its context, or with a full one.',
  thresholds: noThresholds,
  ladder: tells('repeat'),
  worth: onRecord('our own record of its steps', 'It had failed, and nobody had handed the agent over by hand.'),
});
