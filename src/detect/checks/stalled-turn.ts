import { isOfServer } from '../../clients/acts.ts';
import { healthCheck } from '../check.ts';
import { minuteMs, minutes, type Own } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'stalled-turn': true;
  }
}

/**
 * The client gives up a silent stream by itself after five minutes and tries again: waits of 300 to 340 s end by themselves. Where
 * less time is set it is less in proportion.
 */
const ownRetryMs = 45_000;
const ownRetryShare = 0.15;

export const stalledTurn = healthCheck({
  name: 'stalled-turn',
  title: 'has stopped moving in the middle of a turn',
  evidence: 'an open turn, and the time since the last sign in any record',
  why: 'A turn is open and nothing has moved for longer than it may take. Silence after the end of a turn is healthy: so were 200 of 252 gaps of more than 15 minutes.',
  isShared: true,
  thresholds: {
    'stall.thinkingMinutes': minutes(5, 'How long an agent may think without any sign of progress.'),
    'stall.toolMinutes': minutes(10, 'How long a tool may run without any sign of progress.'),
    'stall.mcpMinutes': minutes(15, 'How long an MCP tool may run without any sign of progress.'),
    'stall.subagentMinutes': minutes(15, 'How long a subagent may run without any sign of progress.'),
  },
  ladder: { template: 'stalled', promptsMax: 1, tells: 'repeat', moment: 'any', purpose: 'sets-going' },
  worth: {
    ground: { by: 'record', why: "an open turn and no sign in any record for longer than the client's own timeouts" },
    right: 'A person had to interrupt it, or the turn failed. Wrong: it moved on by itself.',
    verdicts: { 'human-interrupted': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  look({ view, nowMs, missedSince }, limits) {
    const { state, detail, source, tool } = view.reading;
    if (state !== 'working') return { fine: `it is ${state}` };
    const movedMs = Math.max(view.reading.sinceMs, view.lastActivityMs ?? 0);
    const silent = detail === 'tool' ? silentIn(tool) : detail === 'subagent' ? 'subagent' : 'thinking';
    const budgetMs = silenceMaxMs(silent, limits);
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
});

/** What an open turn is doing, as far as its silence is concerned. */
export type Silent = 'thinking' | 'tool' | 'mcp' | 'subagent';

/** How long it may be silent, live and on record. */
export function silenceMaxMs(silent: Silent, limits: Own<(typeof stalledTurn)['thresholds']>): number {
  const thinkingMs = limits['stall.thinkingMinutes'] * minuteMs;
  switch (silent) {
    case 'subagent':
      return limits['stall.subagentMinutes'] * minuteMs;
    case 'mcp':
      return limits['stall.mcpMinutes'] * minuteMs;
    case 'tool':
      return limits['stall.toolMinutes'] * minuteMs;
    case 'thinking':
      return thinkingMs + Math.min(ownRetryMs, thinkingMs * ownRetryShare);
  }
}

export function silentIn(tool: string | null): Silent {
  return tool !== null && isOfServer(tool) ? 'mcp' : 'tool';
}
