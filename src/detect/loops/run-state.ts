import type { Detail, State } from '../../model/agent.ts';
import type { SessionFact } from '../../model/session-event.ts';

export interface RunState {
  state: State;
  detail: Detail | null;
}

const idle: RunState = { state: 'idle', detail: null };
const thinking: RunState = { state: 'working', detail: 'thinking' };

/** What a recorded run is doing after this fact, by its record alone; null: what it did before. */
export function stateAfter(fact: SessionFact): RunState | null {
  switch (fact.kind) {
    case 'prompt':
    case 'tool-result':
      return thinking;
    case 'reply':
      return fact.ends ? idle : thinking;
    case 'tool-call':
      if (fact.sign?.act === 'ask') return { state: 'waiting', detail: 'question' };
      return { state: 'working', detail: fact.sign?.act === 'delegate' ? 'subagent' : 'tool' };
    case 'api-error':
      return fact.resetsAtMs === null ? idle : { state: 'limited', detail: null };
    case 'retry':
      return { state: 'retrying', detail: null };
    case 'turn-end':
    case 'interrupted':
    case 'command':
    case 'unknown-command':
      return idle;
    case 'compacted':
    case 'request':
    case 'background-ended':
    case 'cost':
    case 'queued':
    case 'progress':
      return null;
  }
}
