// One order of every kind of deed, to a made-up agent, and how often the world says it was done. A kind that is missing
// here does not compile.
import type { OrderOf } from '../../src/actions/engine.ts';
import type { DeedKind } from '../../src/model/action.ts';
import type { Incident } from '../../src/model/incident.ts';
import type { TypedAgent } from './typed-agent.ts';

interface Example<K extends DeedKind> {
  /** How the agent stands before it. */
  before?: (agent: TypedAgent) => void;
  /** `did`: called by what has no other trace. */
  order: (did: () => void) => OrderOf<K>;
  /** How often it was done to the agent; left out: as often as `did` was called. */
  done?: (agent: TypedAgent) => number;
}

const common = { host: 'h', agent: 'a-ps', trigger: 'human', by: 'human me', finding: null } as const;
const incident = {
  ...{
    id: 'i',
    host: 'h',
    agent: 'a-ps',
    project: 'a',
    check: 'waiting-human',
    subject: null,
    severity: 'warning',
    text: 't',
  },
  ...{ openedMs: 1, closedMs: null, ackedMs: null, prompts: 0, lastPromptMs: null, tells: 0, lastTellMs: null },
} as Incident;

function change(did: () => void) {
  return async () => {
    did();
    return true;
  };
}

/** A person's words are in the box. */
function withDraft(agent: TypedAgent): void {
  agent.box = 'a draft of mine';
}

export const examples: { [K in DeedKind]: Example<K> } = {
  prompt: {
    before: withDraft,
    order: () => ({ ...common, text: 'Go on with it.' }),
    done: ({ submitted }) => submitted.filter((text) => text.startsWith('Go on with it. [wk-')).length,
  },
  command: {
    before: withDraft,
    order: () => ({ ...common, command: 'compact' }),
    done: ({ submitted }) => submitted.filter((text) => text === '/compact').length,
  },
  interrupt: {
    before: (agent) => {
      agent.status = 'busy';
      agent.state = 'working';
    },
    order: () => common,
    done: ({ typed }) => typed.filter((key) => key === 'Escape').length,
  },
  notify: { order: () => ({ ...common, incident, view: null, sinceMs: 0 }) },
  ack: { order: (did) => ({ ...common, word: { check: 'waiting-human', denied: false }, change: change(did) }) },
  authority: { order: (did) => ({ ...common, word: { authority: 'manage' }, change: change(did) }) },
};
