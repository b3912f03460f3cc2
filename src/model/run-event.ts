import type { SessionEvent } from './session-event.ts';

/** One event of a recorded run, whichever client wrote it. */
export interface RunEvent extends SessionEvent {
  /** The source record it comes from. */
  index: number;
  /** A subagent's. */
  side: boolean;
}

/** One line of a recorded run: its events, or why it has none. */
export type RunLine = { ok: true; events: RunEvent[] } | { ok: false; reason: 'malformed' | 'unstructured' };
