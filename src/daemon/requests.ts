import { z } from 'zod';
import { fail, ok, type Result } from '../model/result.ts';
import { templateNames } from './acting.ts';

const waitMsMax = 86_400_000;

const name = z.string().min(1).max(1_000);
const agent = { agent: name };
const said = z.union([
  z.string(),
  z.strictObject({ template: z.enum(templateNames), slots: z.record(z.string(), z.string()) }),
]);

/** What may be asked at the control socket. A request is one line of JSON, the answer one line back. */
const request = z.discriminatedUnion('ask', [
  z.strictObject({ ask: z.enum(['status', 'doctor', 'inbox']) }),
  /** Gets a line for every event until it hangs up. */
  z.strictObject({ ask: z.literal('follow') }),
  z.strictObject({ ask: z.literal('stop'), keepDb: z.boolean() }),
  z.strictObject({ ask: z.literal('prompt'), ...agent, said, waitMs: z.number().min(0).max(waitMsMax) }),
  z.strictObject({ ask: z.literal('authority'), ...agent, authority: z.enum(['observe', 'nudge', 'manage']) }),
  z.strictObject({ ask: z.literal('ack'), id: name, denied: z.boolean() }),
  z.strictObject({ ask: z.literal('handoff'), ...agent, dryRun: z.boolean() }),
  z.strictObject({ ask: z.literal('handoff-state'), id: name }),
  z.strictObject({ ask: z.enum(['why', 'compact']), ...agent }),
  /** Texts that are secret, in each of their spellings. */
  z.strictObject({ ask: z.literal('forget'), forms: z.array(z.string().min(6).max(200_000)).min(1).max(20) }),
]);

export type ControlRequest = z.output<typeof request>;

export function parseRequest(line: string): Result<ControlRequest, 'bad-request'> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fail('bad-request', 'a request is one line of JSON');
  }
  const parsed = request.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'the request';
  return fail('bad-request', `no such request: ${where}: ${issue?.message ?? 'it is not understood'}`);
}
