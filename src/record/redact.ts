import type { Caller } from '../model/caller.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { connect, reasonOf } from './connection.ts';

/** A big database is read from end to end. */
const statementMs = 3_600_000;
const whyMs = 10_000;
const triesMax = 3;
const deadlock = '40P01';
const refused = '22023';

/** Takes the forms of a secret out of every table. The rows changed in each. */
export async function redactTables(
  url: string,
  forms: readonly string[],
  { host, by }: { host: string; by: Caller },
): Promise<Result<Record<string, number>, 'refused' | 'unavailable'>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return ok(await redactOnce(url, forms, host, by));
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (code === refused) return fail('refused', message);
      // The daemon writes the same tables at the same time: one of the two is asked to begin anew.
      if (code !== deadlock || attempt === triesMax) return fail('unavailable', reasonOf(error));
    }
  }
}

/** Why these cannot be taken out; null: they can. Asked before anybody forgets them. */
export async function whyKept(url: string, forms: readonly string[]): Promise<Result<string | null, 'unavailable'>> {
  try {
    const client = await connect(url, { statement_timeout: whyMs });
    try {
      const asked = await client.query<{ why: string | null }>('SELECT why_not_redacted($1::text[]) AS why', [forms]);
      return ok(asked.rows[0]?.why ?? null);
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    return fail('unavailable', reasonOf(error));
  }
}

async function redactOnce(
  url: string,
  forms: readonly string[],
  host: string,
  by: Caller,
): Promise<Record<string, number>> {
  const client = await connect(url, { statement_timeout: statementMs });
  try {
    // Into its row: the function writes nothing else that comes from outside.
    await client.query("SELECT set_config('watchkeeper.caller', $1, false)", [by]);
    const done = await client.query<{ replaced: Record<string, number> }>(
      'SELECT redact_everywhere($1::text[], $2) AS replaced',
      [forms, host],
    );
    return done.rows[0]?.replaced ?? {};
  } finally {
    await client.end().catch(() => {});
  }
}
