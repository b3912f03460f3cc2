import { messageFor } from '../../decide/message.ts';
import type { Open } from '../../findings/open-incident.ts';
import { ok } from '../../model/result.ts';
import { findingDocument } from '../status.ts';
import type { Doors } from './doors.ts';
import { defineRequest } from './request.ts';

/** What waits for a human, and nobody has acknowledged. */
export const inbox = defineRequest({
  name: 'inbox',
  who: 'anyone',
  input: {},
  answer: (_, doors) => ok({ v: 1, items: doors.board.open().flatMap((open) => itemOf(open, doors)) }),
});

function itemOf({ incident, step }: Open, { board, host }: Doors) {
  const finding = board.findings(incident.agent).find(({ id }) => id === incident.id);
  if (finding === undefined || finding.ackedMs !== null || (finding.tells === 0 && step.do !== 'tell')) return [];
  const { id, check: kind, severity, subject, since, told } = findingDocument(finding);
  const message = messageFor(incident, incident.agent === null ? null : board.view(incident.agent), finding.sinceMs);
  const text = `${message.title}: ${message.text}`;
  const { agent } = incident;
  return [{ id, agent, host: host.name, kind, severity, subject, since, told, text, answer_with: message.whatToDo }];
}
