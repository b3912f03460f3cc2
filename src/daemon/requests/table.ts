import type { z } from 'zod';
import { ack } from './ack.ts';
import { authority } from './authority.ts';
import { canAccept } from './can-accept.ts';
import { compact } from './compact.ts';
import { doctor } from './doctor.ts';
import { follow } from './follow.ts';
import { forget } from './forget.ts';
import { handoff, handoffState } from './handoff.ts';
import { agentHealth, health } from './health.ts';
import { inbox } from './inbox.ts';
import { interrupt } from './interrupt.ts';
import { pause } from './pause.ts';
import { prompt } from './prompt.ts';
import type { AnyRequest } from './request.ts';
import { agentStatus, status } from './status.ts';
import { stop } from './stop.ts';
import { unpause } from './unpause.ts';
import { why } from './why.ts';

/** Everything that may be asked of the daemon, by whatever way in: socket, command line, and what is to come. */
export const requests = [
  status,
  agentStatus,
  health,
  agentHealth,
  why,
  inbox,
  canAccept,
  doctor,
  follow,
  prompt,
  compact,
  interrupt,
  handoff,
  handoffState,
  authority,
  ack,
  pause,
  unpause,
  forget,
  stop,
] as const satisfies readonly AnyRequest[];

type Definition = (typeof requests)[number];
export type RequestName = Definition['name'];
type Named<Name extends RequestName> = Extract<Definition, { name: Name }>;

type Shape<Name extends RequestName> = Named<Name>['input'];
export type RequestInput<Name extends RequestName> = { [Field in keyof Shape<Name>]: z.input<Shape<Name>[Field]> };

/** What a request is answered with. */
export type RequestDocument<Name extends RequestName> = Extract<
  Awaited<ReturnType<Named<Name>['answer']>>,
  { ok: true }
>['value'];
