import type { AgentView, Source } from '../../model/agent.ts';
import type { HealthCheck, Verdict } from '../check.ts';
import { doingText, refusedAgain, refusedText } from '../refusals.ts';

/**
 * The service takes no more from it: a usage limit, which the client waits out, a 429 that ended the turn, or a 429 or
 * 529 that is tried again and again. By the record's own kind of error or status; of 286 texts with such words in real runs 7 were limits.
 */
export const rateLimited: HealthCheck = {
  name: 'rate-limited',
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
};

function found(sinceMs: number, source: Source, text: string): Verdict {
  const evidence = [{ source, atMs: sinceMs, text }];
  return { found: { severity: 'warning', confidence: 0.95, sinceMs, evidence, action: null } };
}

/** With the reset time, wherever it is told. */
function limitText({ error, limits }: AgentView): string {
  const said = error ?? 'its allowance is used up';
  if (said.includes('resets 2')) return said;
  const full = limits.find(({ percent, resetsAtMs }) => percent >= 100 && resetsAtMs !== null);
  const resets = new Date(full?.resetsAtMs ?? Number.NaN);
  return Number.isNaN(resets.getTime()) ? said : `${said} · resets ${resets.toISOString()}`;
}
