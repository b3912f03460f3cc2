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
import { type Hold, usualHold } from './hold.ts';

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
  /** Checks whose trouble is there, only its time is not up. */
  coming: CheckName[];
}

/** All checks on one agent. */
export function examine(input: CheckInput): Examination {
  const findings: Finding[] = [];
  const fine: Examination['fine'] = [];
  const coming: CheckName[] = [];
  for (const check of checks) {
    const verdict = check.look(input);
    if ('fine' in verdict) {
      fine.push({ check: check.name, reason: verdict.fine });
      if (verdict.coming) coming.push(check.name);
    } else
      findings.push({
        id: `${input.view.agent}:${check.name}:${verdict.found.sinceMs}`,
        check: check.name,
        subject: null,
        slots: null,
        standing: 'seen',
        ...verdict.found,
      });
  }
  return { findings, fine, coming };
}

const holds = new Map(checks.map(({ name, hold }) => [name, hold]));

export function holdOf(check: CheckName): Hold {
  return holds.get(check) ?? usualHold;
}

export function healthStatus(view: AgentView): HealthStatus {
  if (view.findings.some((finding) => finding.severity === 'critical')) return 'critical';
  if (view.findings.length > 0) return 'warning';
  return view.reading.state === 'unknown' ? 'unknown' : 'healthy';
}
