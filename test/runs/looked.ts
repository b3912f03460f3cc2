import type { CheckInput, HealthCheck } from '../../src/detect/check.ts';
import type { AgentView } from '../../src/model/agent.ts';
import { viewNowMs } from './agent-view.ts';

const minute = 60_000;

/** What one check says of a view: the text of its evidence, or null. */
export function looked(check: HealthCheck, view: AgentView, more: Partial<CheckInput> = {}): string | null {
  const verdict = check.look({
    view,
    nowMs: viewNowMs,
    limits: {
      waitingNotifyMs: 2 * minute,
      answerMs: minute / 2,
      startMs: 5 * minute,
      completionMs: minute,
      stallMs: { thinking: 5 * minute, tool: 10 * minute, mcp: 15 * minute, subagent: 15 * minute },
    },
    unansweredSinceMs: null,
    loops: [],
    completion: null,
    missedSince: () => 0,
    ...more,
  });
  return 'found' in verdict ? (verdict.found.evidence[0]?.text ?? '') : null;
}
