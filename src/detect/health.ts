import type { AgentView, CheckName, Finding } from '../model/agent.ts';
import type { CheckInput, HealthCheck } from './check.ts';
import { authFailed } from './checks/auth-failed.ts';
import { completionMissing } from './checks/completion-missing.ts';
import { contextFull, contextHigh } from './checks/context-high.ts';
import { endedUnexpectedly } from './checks/ended-unexpectedly.ts';
import { lostWay } from './checks/lost-way.ts';
import { neverStarted } from './checks/never-started.ts';
import { noAnswer } from './checks/no-answer.ts';
import { rateLimited } from './checks/rate-limited.ts';
import { silentStop } from './checks/silent-stop.ts';
import { stalledTurn } from './checks/stalled-turn.ts';
import { trends } from './checks/trends.ts';
import { waitingHuman } from './checks/waiting-human.ts';

export type HealthStatus = 'healthy' | 'warning' | 'critical' | 'unknown';

const checks: readonly HealthCheck[] = [
  silentStop,
  waitingHuman,
  stalledTurn,
  endedUnexpectedly,
  noAnswer,
  contextHigh,
  contextFull,
  ...lostWay,
  authFailed,
  rateLimited,
  neverStarted,
  completionMissing,
  ...trends,
];

export interface Examination {
  findings: Finding[];
  /** Every check that found nothing, and why. */
  fine: { check: CheckName; reason: string }[];
}

/** All checks on one agent. */
export function examine(input: CheckInput): Examination {
  const findings: Finding[] = [];
  const fine: Examination['fine'] = [];
  for (const check of checks) {
    const verdict = check.look(input);
    if ('fine' in verdict) fine.push({ check: check.name, reason: verdict.fine });
    else
      findings.push({
        id: `${input.view.agent}:${check.name}:${verdict.found.sinceMs}`,
        check: check.name,
        subject: null,
        slots: null,
        ...verdict.found,
      });
  }
  return { findings, fine };
}

export function healthStatus(view: AgentView): HealthStatus {
  if (view.findings.some((finding) => finding.severity === 'critical')) return 'critical';
  if (view.findings.length > 0) return 'warning';
  return view.reading.state === 'unknown' ? 'unknown' : 'healthy';
}
