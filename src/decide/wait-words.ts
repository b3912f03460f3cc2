import type { Refusal } from '../model/action.ts';
import type { HandoffWait } from './handoff/moves.ts';
import type { StepWait } from './policy.ts';

type Wait = StepWait | HandoffWait;

/** Why nothing is done now, for people. A refusal is said as it stands in the ledger. */
export function waitWords(reason: Wait): string {
  if (reason in waitTexts) return waitTexts[reason as keyof typeof waitTexts];
  return reason.replace(/^is-/, 'it is ');
}

/** @public The manual lists them: `npm run docs`. */
export const waitTexts: Record<Exclude<Wait, Exclude<Refusal, 'starting'> | `is-${string}`>, string> = {
  starting: 'just started',
  'just-opened': 'it was only just found',
  'told-by-auth-failed': 'people are told about it by auth-failed',
  'tried-again': 'it is being tried again',
  prompted: 'the agent was prompted about it',
  'prompted-lately': 'the agent was prompted a short while ago',
  'project-prompted-lately': 'another agent of the project was prompted a moment ago',
  'being-prompted': 'it is being prompted',
  'prompt-has-its-chance': 'the agent has time to react to the last prompt',
  'pause-after-prompt': 'a pause after the last prompt',
  'only-recorded': 'this check is only shown and recorded',
  acknowledged: 'somebody has acknowledged it',
  told: 'people have been told',
  'told-as-one-of-many': 'it is told as one of many',
  'others-may-follow': 'more agents may get it, and it is then told as one',
  'client-waits-for-limit': 'the client goes on by itself after the limit',
  'rate-refused': 'the service refused it (429), so it is left alone for a while',
  'not-showing': 'the trouble does not show at this moment',
  'out-of-sight': 'the trouble was not seen at the last look',
  'comes-and-goes': 'the trouble comes and goes too often',
  'handoff-runs': 'a handoff of the agent runs',
  'record-is-read': 'the record of the agent is still being read',
  'work-goes-first': 'its work has to be set going again first',
  'just-requested': 'it was requested a moment ago',
  'session-unknown': 'the session of the agent is not known',
  over: 'it is over',
  'others-first': 'other handoffs come first',
  'background-work': 'its background work has to end',
  'request-under-way': 'the request is being typed',
  'request-turn': 'the turn of the request has to begin',
  'turn-end': 'its turn has to end',
  'service-failed': 'the service of the model failed',
  document: 'the document has to be written',
  'clear-under-way': 'the clear is being typed',
  'new-session': 'the client has to show its new session',
  'arrival-unknown': 'it is not known yet whether the text arrived',
  'dialog-open': 'a dialog is open',
  'resume-under-way': 'the resume prompt is being typed',
  'document-unread': 'the agent has to read the document',
  'not-gone-on': 'the agent has to go on',
  'way-back': 'the old session has to come back',
};
