import type { Sighting, Source } from '../../model/agent.ts';
import { type CheckVerdict, healthCheck, noThresholds, onRecord, shownOnly } from '../check.ts';
import { doingText, refusedAgain, refusedText } from '../refusals.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'rate-limited': true;
  }
}

export const rateLimited = healthCheck({
  name: 'rate-limited',
  title: 'is at a usage or rate limit',
  evidence: "the kind or status of the error in the client's record, never its text",
  why: 'The service takes no more requests from it: a usage limit, a 429 that ended the turn, or a 429 or 529 that keeps coming back. Only the record counts: of 286 texts in real runs with such words, 7 were limits.',
  thresholds: noThresholds,
  ladder: shownOnly,
  worth: onRecord("the client's own record of the limit", 'The client said so.'),
  look({ view }) {
    const { state, sinceMs, source } = view.reading;
    const again = refusedAgain(view, 'limit');
    if (again !== null) return found(again.sinceMs, 'transcript', refusedText(again));
    const refused =
      state === 'idle' && !view.turnIsOpen && view.lastTurn === 'failed' && view.errorKind === 'rate_limit';
    if (state !== 'limited' && !refused) return { fine: doingText(view) };
    const atMs = refused ? (view.lastTurnAtMs ?? sinceMs) : sinceMs;
    return found(atMs, refused ? 'transcript' : source, limitText(view));
  },
});

function found(sinceMs: number, source: Source, text: string): CheckVerdict {
  const evidence = [{ source, atMs: sinceMs, text }];
  return { found: { severity: 'warning', confidence: 0.95, sinceMs, evidence, action: null } };
}

/** With the reset time, wherever it is told. */
function limitText({ error, limits }: Sighting): string {
  const said = error ?? 'its allowance is used up';
  if (said.includes('resets 2')) return said;
  const full = limits.find(({ percent, resetsAtMs }) => percent >= 100 && resetsAtMs !== null);
  const resets = new Date(full?.resetsAtMs ?? Number.NaN);
  return Number.isNaN(resets.getTime()) ? said : `${said} · resets ${resets.toISOString()}`;
}
