import { describe, expect, it } from 'vitest';
import type { AgentView, Authority, Detail, State } from '../model/agent.ts';
import { isProgressDue, type ProgressFacts } from './progress.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const facts: ProgressFacts = {
  nowMs,
  mode: 'auto',
  everyMs: 10 * minute,
  minIntervalMs: 5 * minute,
  running: { sinceMs: 50 * minute, hidden: true },
  lastAskMs: 0,
  lastAgentPromptMs: null,
};

function view(state: State, detail: Detail | null = null, authority: Authority = 'manage'): AgentView {
  const healthy = { stopped: null, limitedUntilMs: null, findings: [] as AgentView['findings'] };
  return { authority, reading: { state, detail, tool: null }, ...healthy } as AgentView;
}

describe('an agent is asked about its background work', () => {
  it.each<[string, AgentView, Partial<ProgressFacts>, boolean]>([
    ['when some of it cannot be seen', view('idle'), {}, true],
    ['not about what can be seen', view('idle'), { running: { sinceMs: 0, hidden: false } }, false],
    [
      'about that too, if it is always wanted',
      view('idle'),
      { mode: 'always', running: { sinceMs: 0, hidden: false } },
      true,
    ],
    ['never, if it is never wanted', view('idle'), { mode: 'never' }, false],
    ['not when nothing runs', view('idle'), { running: null }, false],
    ['not in the middle of a turn', view('working', 'thinking'), {}, false],
    ['while only a subagent runs', view('working', 'subagent'), {}, true],
    ['not at a dialog', view('waiting', 'permission'), {}, false],
    [
      'not while its work stands still: that comes first',
      { ...view('idle'), stopped: { sinceMs: 0, error: null, errorKind: null } },
      {},
      false,
    ],
    ['not while its client waits for a usage limit', { ...view('idle'), limitedUntilMs: nowMs + 1 }, {}, false],
    ['when it did not go on by itself after the limit', { ...view('idle'), limitedUntilMs: nowMs }, {}, true],
    ['not when it may only be observed', view('idle', null, 'observe'), {}, false],
    ['not before the interval is over', view('idle'), { lastAskMs: 91 * minute }, false],
    ['once it is over', view('idle'), { lastAskMs: 90 * minute }, true],
    ['not as soon as it began', view('idle'), { running: { sinceMs: 91 * minute, hidden: true } }, false],
    ['not right after another prompt', view('idle'), { lastAgentPromptMs: 96 * minute }, false],
  ])('%s', (_what, seen, given, due) => expect(isProgressDue(seen, { ...facts, ...given })).toBe(due));
});
