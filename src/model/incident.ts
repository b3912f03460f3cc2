import type { AgentOrHost } from './agent-ref.ts';
import type { CheckName } from './check.ts';

/** One trouble of one agent, or of work that has none, from its first finding until it is over. What was done about it hangs on it. */
export interface Incident extends AgentOrHost {
  id: string;
  project: string;
  check: CheckName;
  /** What of the agent it is about; null: the agent itself. */
  subject: string | null;
  severity: 'warning' | 'critical';
  text: string;
  openedMs: number;
  closedMs: number | null;
  ackedMs: number | null;
  prompts: number;
  lastPromptMs: number | null;
  tells: number;
  lastTellMs: number | null;
}
