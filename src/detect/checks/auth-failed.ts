import type { ErrorKind } from '../../model/error-kind.ts';
import { type CheckVerdict, healthCheck, noThresholds, tells } from '../check.ts';
import type { Persistence } from '../hold.ts';
import { doingText, refusedAgain, refusedText } from '../refusals.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'auth-failed': true;
  }
}

/** The client says that it is at its prompt a moment before its record has the end of the turn. */
const hold: Persistence = { readings: 2, forMs: 500, keepMs: 5_000 };

/** A login, account or credential that is not accepted. */
const kinds: ReadonlySet<string | null> = new Set<ErrorKind>(['authentication_failed', 'billing_error']);

/** By the kind of the error in the client's record, never by its text: agents talk about logins all day. */
export function isAuthError(errorKind: string | null): boolean {
  return kinds.has(errorKind);
}

export const authFailed = healthCheck({
  name: 'auth-failed',
  title: 'is refused by the service',
  evidence: "the kind of error in the client's record, never its text",
  why: 'The service refuses its login, account or billing, and only a person can mend that.',
  isShared: true,
  thresholds: noThresholds,
  ladder: tells('repeat'),
  worth: {
    ground: {
      by: 'record',
      why: "the client's own record of the error that ended the turn, or that it meets again and again",
    },
    right: 'A person had to mend it, or it failed again. Wrong: it went on by itself.',
    verdicts: { 'human-wrote': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  hold,
  look({ view }) {
    const { state } = view.reading;
    const refused = refusedAgain(view, 'auth');
    if (refused !== null) return found(refused.sinceMs, refusedText(refused));
    if (state === 'idle' && view.turnIsOpen) return { fine: 'a newer turn has begun' };
    if (state !== 'idle' || view.lastTurn !== 'failed') return { fine: doingText(view) };
    if (!isAuthError(view.errorKind)) return { fine: 'its error is of another kind' };
    return found(view.lastTurnAtMs ?? view.reading.sinceMs, view.error ?? view.errorKind ?? 'not let in');
  },
});

function found(sinceMs: number, text: string): CheckVerdict {
  const evidence = [{ source: 'transcript' as const, atMs: sinceMs, text }];
  return { found: { severity: 'critical', confidence: 0.95, sinceMs, evidence, action: null } };
}
