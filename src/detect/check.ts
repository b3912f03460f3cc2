import type { AgentView, Finding } from '../model/agent.ts';

/** What the checks are tuned by, in milliseconds; from the configuration. */
export interface CheckLimits {
  waitingNotifyMs: number;
}

/** One health check: a pure look at one agent at one moment. */
export interface HealthCheck {
  readonly name: string;
  look(view: AgentView, nowMs: number, limits: CheckLimits): Omit<Finding, 'id' | 'check'> | null;
}
