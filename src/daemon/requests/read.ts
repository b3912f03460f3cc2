import { z } from 'zod';
import type { Sighting } from '../../model/agent.ts';
import { type Caller, humanNamed, isAgent } from '../../model/caller.ts';
import { fail, ok, type Result } from '../../model/result.ts';
import { shown } from '../../model/text.ts';
import type { Doors } from './doors.ts';
import type { AnyRequest, RequestAnswer } from './request.ts';
import { requests } from './table.ts';

/** A request that is as the table has it. */
export interface GivenRequest {
  definition: AnyRequest;
  input: Record<string, unknown>;
  asker: Asker;
}

/** As whoever asks says of itself. Only this user reaches the socket, so it is believed; it can only take away. */
export type Asker = z.output<typeof askerShape>;

const askerShape = z.strictObject({
  user: z.string().max(300),
  /** Its own process and those above it. */
  processes: z.array(z.strictObject({ pid: z.number(), startTicks: z.string().max(30) })).max(100),
});

/** So much of a host's id is enough to call it by. */
const idCharsMin = 8;

/** Who talks to the socket by hand and does not say who they are. */
const nobody: Asker = { user: '', processes: [] };

const table = new Map<string, { definition: AnyRequest; shape: z.ZodType<Record<string, unknown>> }>(
  requests.map((definition) => [definition.name, { definition, shape: z.strictObject(definition.input) }]),
);

/** A request is one line of JSON: its name as `ask`, what it takes, and who asks as `asker`. */
export function readRequest(line: string): Result<GivenRequest, 'bad-request'> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fail('bad-request', 'a request is one line of JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail('bad-request', 'a request is one object of JSON');
  const { ask, asker, ...input } = value as Record<string, unknown>;
  const known = typeof ask === 'string' ? table.get(ask) : undefined;
  if (known === undefined) return fail('bad-request', `no such request: ask: one of ${[...table.keys()].join(', ')}`);
  const read = known.shape.safeParse(input);
  const by = askerShape.default(nobody).safeParse(asker);
  if (read.success && by.success) return ok({ definition: known.definition, input: read.data, asker: by.data });
  const [issue] = (read.error ?? by.error)?.issues ?? [];
  const where = issue?.path.join('.') || (read.success ? 'asker' : 'the request');
  return fail('bad-request', `no such request: ${where}: ${issue?.message ?? 'it is not understood'}`);
}

export async function answerRequest(
  { definition, input, asker }: GivenRequest,
  doors: Doors,
): Promise<RequestAnswer<unknown>> {
  const views = doors.board.views();
  const by = callerOf(asker, views);
  if (definition.who === 'people' && isAgent(by))
    return fail(
      'not-allowed',
      `\`${definition.name}\` is for people, and ${shown(by, 100)} asks`,
      'do it in a terminal of your own',
    );
  if (typeof input.agent !== 'string') return definition.answer(input as never, doors, by);
  const agent = agentNamed(input.agent, doors.host, views);
  return agent.ok ? definition.answer({ ...input, agent: agent.value } as never, doors, by) : agent;
}

/** Whatever runs below an agent we watch is that agent: its tools, and their scripts. */
function callerOf(asker: Asker, views: readonly Sighting[]): Caller {
  for (const { pid, startTicks } of asker.processes) {
    const above = views.find(
      ({ process, reading }) => process.pid === pid && process.startTicks === startTicks && reading.state !== 'ended',
    );
    if (above !== undefined) return `agent ${above.agent}`;
  }
  return humanNamed(asker.user);
}

/** By its name, or as `host/name` with this host's name or id, as `findAgent` has it for those who read the record. */
function agentNamed(text: string, host: Doors['host'], views: readonly Sighting[]): RequestAnswer<string> {
  // A name may hold a slash itself.
  const slash = text.indexOf('/');
  const called = slash < 1 ? null : text.slice(0, slash);
  const isOwn = called !== null && isCalled(called, host);
  for (const name of isOwn ? [text, text.slice(slash + 1)] : [text])
    if (views.some(({ agent }) => agent === name)) return ok(name);
  if (called !== null && !isOwn)
    return fail(
      'no-agent',
      `no agent \`${shown(text, 200)}\` on this host`,
      `if ${shown(called, 200)} is another host, ask its own daemon there`,
    );
  const names = views.map(({ agent }) => agent);
  const known = names.length === 0 ? 'none is known yet' : `known: ${names.slice(0, 10).join(', ')}`;
  return fail('no-agent', `no agent \`${shown(text, 200)}\``, known);
}

function isCalled(text: string, { id, name }: Doors['host']): boolean {
  return text === name || text === id || (text.length >= idCharsMin && id.startsWith(text));
}
