import type { Detail, State } from '../../model/agent.ts';

/**
 * What each state means. Where a state has details, it is shown with one of them.
 * @public The manual lists them: `npm run docs`.
 */
export const stateMeanings: Record<State, string> = {
  working: 'a turn runs',
  idle: 'at its prompt; `+1 bg` where background work still runs; `LAST TURN` says how the turn ended',
  waiting: 'it cannot go on without you',
  retrying: 'the client tries a request again after an API error',
  limited: 'a usage limit, with the time of its reset; the client waits for it',
  compacting: 'the client compacts the context, because it was asked to or by itself',
  ended: 'the process is gone: exit, `kill -9`, tmux server gone',
  unknown: 'the process lives, but what it does cannot be told',
};

/** @public */
export const detailMeanings: Record<Detail, { of: State; means: string }> = {
  thinking: { of: 'working', means: 'the model thinks or streams its answer' },
  tool: { of: 'working', means: 'a tool runs; its name is shown' },
  subagent: { of: 'working', means: 'a subagent runs, also after its parent has stopped' },
  'api-stall': { of: 'working', means: 'nothing is streamed, and the client says that it waits for the API' },
  permission: { of: 'waiting', means: 'a permission dialog is open' },
  question: { of: 'waiting', means: 'a question or a plan is open' },
  dialog: { of: 'waiting', means: 'another dialog or menu is open' },
  setup: { of: 'waiting', means: 'a screen for trust, key, login or first steps is open' },
  suspended: { of: 'unknown', means: 'it was stopped, for example by Ctrl-Z' },
  unreadable: { of: 'unknown', means: 'no source says what it does' },
};
