import type { AgentView } from '../../model/agent.ts';
import type { HealthCheck } from '../check.ts';

/**
 * The service takes no more from it: a usage limit, which the client waits out, or a 429 that ended the turn. By the
 * record's own kind of error; of 286 texts with such words in real runs 7 were limits.
 */
export const rateLimited: HealthCheck = {
  name: 'rate-limited',
  look({ view }) {
    const { state, sinceMs, source } = view.reading;
    const refused =
      state === 'idle' && !view.turnIsOpen && view.lastTurn === 'failed' && view.errorKind === 'rate_limit';
    if (state !== 'limited' && !refused) return { fine: `it is ${state}` };
    const atMs = refused ? (view.lastTurnAtMs ?? sinceMs) : sinceMs;
    return {
      found: {
        severity: 'warning',
        confidence: 0.95,
        sinceMs: atMs,
        evidence: [{ source: refused ? 'transcript' : source, atMs, text: limitText(view) }],
        action: null,
      },
    };
  },
};

/** With the reset time, wherever it is told. */
function limitText({ error, limits }: AgentView): string {
  const said = error ?? 'its allowance is used up';
  if (said.includes('resets 2')) return said;
  const full = limits.find(({ percent, resetsAtMs }) => percent >= 100 && resetsAtMs !== null);
  const resets = new Date(full?.resetsAtMs ?? Number.NaN);
  return Number.isNaN(resets.getTime()) ? said : `${said} · resets ${resets.toISOString()}`;
}
