import { z } from 'zod';
import { ok } from '../../model/result.ts';
import { admissionDocument } from '../context-document.ts';
import { agentField, defineRequest } from './request.ts';
import { statusOf } from './status.ts';

/** May an agent be given a task of this size now? */
export const canAccept = defineRequest({
  name: 'can-accept',
  who: 'anyone',
  input: { agent: agentField, size: z.enum(['tiny', 'small', 'large']) },
  answer: ({ agent, size }, doors) => {
    const of = statusOf(agent, doors);
    return of.ok ? ok(admissionDocument(of.value, size, doors.config().bands)) : of;
  },
});
