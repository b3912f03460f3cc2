import type { Source } from './agent.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** One observed fact, from one source, with its time. */
export interface WatchEvent {
  /** Unique for ever: a row written twice is one row. */
  id: string;
  atMs: number;
  agent: string;
  sessionId: string | null;
  source: Source | 'tmux' | 'watchkeeper';
  kind: string;
  data: { [key: string]: Json };
}
