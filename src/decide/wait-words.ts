import type { Refusal } from '../model/action.ts';
import type { HandoffWait } from './handoff/moves.ts';
import type { StepWait } from './policy.ts';

type Wait = StepWait | HandoffWait;

/** Why nothing is done now, for people. A refusal is said as it stands in the ledger. */
export function waitWords(reason: Wait): string {
  if (reason in words) return words[reason as keyof typeof words];
  return reason.replace(/^is-/, 'it is ');
}

const words: Record<Exclude<Wait, Exclude<Refusal, 'starting'> | `is-${string}`>, string> = {
  starting: 'it has only just started to watch',
  'just-opened': 'just opened',
  'told-by-auth-failed': 'a human is told by auth-failed',
  'tried-again': 'it is tried again',
  prompted: 'it was prompted',
  'prompted-lately': 'it was prompted a short while ago',
  'project-prompted-lately': 'another agent of the project was just prompted',
  'being-prompted': 'it is being prompted',
  'prompt-has-its-chance': 'the last prompt gets its chance',
  'pause-after-prompt': 'the pause after the last prompt',
  'only-recorded': 'it is only recorded',
  acknowledged: 'a human has acknowledged it',
  told: 'a human was told',
  'told-as-one-of-many': 'it is told as one of many',
  'others-may-follow': 'others may be in the same trouble',
  'client-waits-for-limit': 'its client waits for the limit itself',
  'rate-refused': 'the service refuses its rate',
  'not-showing': 'it does not show at this moment',
  'out-of-sight': 'it is out of sight',
  'comes-and-goes': 'it comes and goes',
  'handoff-runs': 'a handoff runs',
  'record-is-read': 'its record is being read',
  'work-goes-first': 'what sets its work going comes first',
  'just-requested': 'it was just requested',
  'session-unknown': 'its session is not known',
  over: 'it is over',
  'others-first': 'other handoffs come first',
  'background-work': 'its background work',
  'request-under-way': 'the request is under way',
  'request-turn': 'the turn of the request',
  'turn-end': 'the end of its turn',
  'service-failed': 'the service failed',
  document: 'the document',
  'clear-under-way': 'the clear is under way',
  'new-session': 'the new session',
  'arrival-unknown': 'nobody knows whether it arrived',
  'dialog-open': 'a dialog is open',
  'resume-under-way': 'the resume prompt is under way',
  'document-unread': 'that it reads the document',
  'not-gone-on': 'that it goes on',
  'way-back': 'the way back',
};
