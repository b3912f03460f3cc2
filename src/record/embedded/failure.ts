import { fail } from '../../model/result.ts';

export type EmbeddedFailure =
  | 'no-binaries'
  | 'no-user'
  | 'no-access'
  | 'exec-failed'
  | 'initdb-failed'
  | 'other-major'
  | 'start-failed'
  | 'timeout'
  | 'locked';

const otherServer = 'set DATABASE_URL to use a PostgreSQL (14 or newer) of your own';

/** Every failure has the same last way out; `first` is what to try before it. */
export function embeddedFailure<R extends EmbeddedFailure>(reason: R, message: string, first?: string) {
  return fail(reason, oneLine(message), first === undefined ? otherServer : `${first}, or ${otherServer}`);
}

function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .join('; ')
    .slice(0, 600);
}
