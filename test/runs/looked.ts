import type { CheckInput, HealthCheck } from '../../src/detect/check.ts';
import { valuesOf } from '../../src/detect/checks.ts';
import type { AgentView } from '../../src/model/agent.ts';
import { viewNowMs } from './agent-view.ts';

/** What one check says of a view: the text of its evidence, or null. */
export function looked(
  check: Pick<HealthCheck, 'look'>,
  view: AgentView,
  more: Partial<CheckInput> = {},
): string | null {
  const input = {
    ...{ view, nowMs: viewNowMs, answerMs: 30_000, unansweredSinceMs: null },
    ...{ loops: [], completion: null, missedSince: () => 0 },
    ...more,
  };
  const verdict = check.look(input, valuesOf());
  return 'found' in verdict ? (verdict.found.evidence[0]?.text ?? '') : null;
}
