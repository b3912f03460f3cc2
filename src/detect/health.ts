import type { AgentView, Found } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { CheckInput } from './check.ts';
import { checks } from './checks.ts';
import { type Persistence, usualPersistence } from './hold.ts';
import { liveLook } from './live.ts';
import type { Values } from './thresholds.ts';

export type HealthStatus = 'healthy' | 'warning' | 'critical' | 'unknown';

const looks = checks.map(liveLook).filter((look) => look !== null);

export interface Examination {
  findings: Found[];
  /** Every check that found nothing, and why. */
  fine: { check: CheckName; reason: string }[];
  /** Checks whose trouble is there, only its time is not up. */
  coming: CheckName[];
}

/** All checks on one agent. */
export function examine(input: CheckInput, limits: Values): Examination {
  const findings: Found[] = [];
  const fine: Examination['fine'] = [];
  const coming: CheckName[] = [];
  for (const check of looks) {
    const verdict = check.look(input, limits);
    if ('fine' in verdict) {
      fine.push({ check: check.name, reason: verdict.fine });
      if (verdict.coming) coming.push(check.name);
    } else findings.push({ check: check.name, subject: null, slots: null, ...verdict.found });
  }
  return { findings, fine, coming };
}

const holds = new Map(looks.map(({ name, hold }) => [name, hold]));

export function holdOf(check: CheckName): Persistence {
  return holds.get(check) ?? usualPersistence;
}

export function healthStatus(view: AgentView): HealthStatus {
  if (view.findings.some((finding) => finding.severity === 'critical')) return 'critical';
  if (view.findings.length > 0) return 'warning';
  return view.reading.state === 'unknown' ? 'unknown' : 'healthy';
}
