import type { CheckLimits, HealthCheck } from '../check.ts';

/** The client gives up a silent stream by itself after five minutes and tries again: that chance comes first. */
const ownRetryMs = 20_000;

/**
 * A turn is open and nothing has moved for longer than its activity may take. Silence after a turn's end is healthy:
 * of 252 silent gaps over 15 minutes 200 were that.
 */
export const stalledTurn: HealthCheck = {
  name: 'stalled-turn',
  look({ view, nowMs, limits, missedSince }) {
    const { state, detail, source, tool } = view.reading;
    if (state !== 'working') return { fine: `it is ${state}` };
    const movedMs = Math.max(view.reading.sinceMs, view.lastActivityMs ?? 0);
    const budgetMs = budget(detail, tool, limits);
    const silentMs = nowMs - movedMs - missedSince(movedMs);
    if (silentMs < budgetMs) {
      return {
        fine: `it moved ${Math.round(silentMs / 1000)} s ago and may be silent for ${Math.round(budgetMs / 1000)} s`,
        coming: true,
      };
    }
    const doing = detail === 'tool' && tool !== null ? `running ${tool}` : (detail ?? 'working');
    return {
      found: {
        severity: 'warning',
        confidence: 0.7,
        sinceMs: movedMs,
        evidence: [
          { source, atMs: movedMs, text: `no sign of life for ${Math.round(silentMs / 60_000)} min while ${doing}` },
        ],
        action: null,
      },
    };
  },
};

function budget(detail: string | null, tool: string | null, limits: CheckLimits): number {
  if (detail === 'subagent') return limits.stallMs.subagent;
  if (detail === 'tool') return tool?.startsWith('mcp__') ? limits.stallMs.mcp : limits.stallMs.tool;
  return limits.stallMs.thinking + Math.min(ownRetryMs, limits.stallMs.thinking / 10);
}
