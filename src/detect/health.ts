import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckLimits, HealthCheck } from './check.ts';
import { silentStop } from './checks/silent-stop.ts';
import { waitingHuman } from './checks/waiting-human.ts';

export type HealthStatus = 'healthy' | 'warning' | 'critical' | 'unknown';

const checks: readonly HealthCheck[] = [silentStop, waitingHuman];

/** All checks on one agent. A finding's id stays the same while its trouble lasts. */
export function findTrouble(view: AgentView, nowMs: number, limits: CheckLimits): Finding[] {
  return checks.flatMap((check) => {
    const found = check.look(view, nowMs, limits);
    return found === null ? [] : [{ id: `${view.agent}:${check.name}:${found.sinceMs}`, check: check.name, ...found }];
  });
}

export function healthStatus(view: AgentView): HealthStatus {
  if (view.findings.some((finding) => finding.severity === 'critical')) return 'critical';
  if (view.findings.length > 0) return 'warning';
  return view.reading.state === 'unknown' ? 'unknown' : 'healthy';
}
