import { describe, expect, it } from 'vitest';
import type { AgentView, Authority, State } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import { isOver, nextStep, type PolicyFacts, promptsSpent } from './policy.ts';

const minute = 60_000;
const nowMs = 100 * minute;

function incident(check: CheckName, given: Partial<Incident> = {}): Incident {
  return {
    id: 'i',
    host: 'h',
    agent: 'a',
    project: 'p',
    check,
    subject: null,
    severity: 'warning',
    text: '',
    openedMs: 50 * minute,
    closedMs: null,
    ackedMs: null,
    prompts: 0,
    lastPromptMs: null,
    tells: 0,
    lastTellMs: null,
    ...given,
  };
}

function view(state: State, authority: Authority = 'manage', given: Partial<AgentView> = {}): AgentView {
  const last = { lastTurn: 'failed', lastTurnAtMs: 50 * minute, stopped: null, limitedUntilMs: null };
  return { authority, reading: { state }, ...last, ...given } as AgentView;
}

const facts: PolicyFacts = {
  nowMs,
  isFound: true,
  minIntervalMs: 5 * minute,
  repeatMs: 30 * minute,
  rateLimitBackoffMs: minute,
  lastAgentPromptMs: null,
  lastProjectPromptMs: null,
  isUnproved: false,
};
const step = (given: Incident, seen: AgentView, more: Partial<PolicyFacts> = {}) =>
  nextStep(given, seen, { ...facts, ...more });

describe('a silent stop is continued three times with growing pauses, then a human is told', () => {
  const at = (prompts: number, minutesAgo: number) =>
    incident('silent-stop', { prompts, lastPromptMs: nowMs - minutesAgo * minute });
  it('at once', () =>
    expect(step(incident('silent-stop'), view('idle'))).toEqual({ do: 'prompt', template: 'continue' }));
  it('not twice within five minutes', () => expect(step(at(1, 4), view('idle')).do).toBe('wait'));
  it('again after five', () => expect(step(at(1, 5), view('idle')).do).toBe('prompt'));
  it('the third time only after ten', () => {
    expect(step(at(2, 9), view('idle')).do).toBe('wait');
    expect(step(at(2, 10), view('idle')).do).toBe('prompt');
  });
  it('then a human, after its last chance', () => {
    expect(step(at(3, 19), view('idle'))).toMatchObject({ do: 'wait', for: 'tell' });
    expect(step(at(3, 20), view('idle'))).toEqual({ do: 'tell' });
  });
  it('not on an old failure that does not show at this moment, such as when it has just finished the turn it was sent into', () => {
    expect(step(at(1, 5), view('idle'), { isFound: false })).toMatchObject({ do: 'wait', for: 'prompt' });
    expect(step(incident('silent-stop'), view('idle'), { isFound: false }).do).toBe('wait');
  });
  it('not while it works', () =>
    expect(step(incident('silent-stop'), view('working'))).toMatchObject({ do: 'wait', for: 'prompt' }));
  it('model_not_found is for a human at once', () =>
    expect(step(incident('silent-stop'), view('idle', 'manage', { errorKind: 'model_not_found' }))).toEqual({
      do: 'tell',
    }));
  it.each(['authentication_failed', 'billing_error'])('%s is for a human at once, by one message', (errorKind) => {
    const failed = view('idle', 'manage', { errorKind });
    expect(step(incident('silent-stop'), failed)).toMatchObject({ do: 'wait', for: null });
    expect(step(incident('auth-failed'), failed)).toEqual({ do: 'tell' });
    const again = view('working', 'manage', { errorKind });
    expect(step(incident('silent-stop'), again).do).toBe('wait');
    expect(step(incident('auth-failed'), again, { isFound: false }).do).toBe('wait');
    expect(isOver(incident('auth-failed'), again, false)).toBe(false);
    expect(isOver(incident('auth-failed'), { ...failed, lastTurn: 'ok', lastTurnAtMs: nowMs + 1 }, false)).toBe(true);
  });
  it('a login that is refused again and again is for a human at once, though the client goes on trying', () =>
    expect(step(incident('auth-failed'), view('retrying', 'manage'))).toEqual({ do: 'tell' }));
  it('an agent that may only be observed is told about instead', () =>
    expect(step(incident('silent-stop'), view('idle', 'observe'))).toEqual({ do: 'tell' }));
  it('an agent prompted for another reason a minute ago waits', () =>
    expect(step(incident('silent-stop'), view('idle'), { lastAgentPromptMs: nowMs - minute })).toMatchObject({
      do: 'wait',
      untilMs: nowMs + 4 * minute,
    }));
  it('agents of one project do not get prompts in the same second', () =>
    expect(step(incident('silent-stop'), view('idle'), { lastProjectPromptMs: nowMs - 500 })).toMatchObject({
      do: 'wait',
      untilMs: nowMs + 500,
    }));
});

describe('a service that refuses the rate is left alone first', () => {
  const failed = (secondsAgo: number, errorKind = 'rate_limit', more: Partial<AgentView> = {}) =>
    view('idle', 'manage', { stopped: { sinceMs: nowMs - secondsAgo * 1_000, error: '429', errorKind }, ...more });
  const none = { lastAgentPromptMs: null, minIntervalMs: 1 };
  it('a minute after a plain 429 at least, one and a half at most', () => {
    expect(step(incident('silent-stop'), failed(0), none)).toMatchObject({ do: 'wait', for: 'prompt' });
    expect(step(incident('silent-stop'), failed(59), none).do).toBe('wait');
    expect(step(incident('silent-stop'), failed(90), none).do).toBe('prompt');
  });
  it('twice as long each further time, from the last refusal on', () => {
    const again = (prompts: number) => incident('silent-stop', { prompts, lastPromptMs: 0 });
    expect(step(again(1), failed(119), none).do).toBe('wait');
    expect(step(again(1), failed(180), none).do).toBe('prompt');
    expect(step(again(2), failed(239), none).do).toBe('wait');
    expect(step(again(2), failed(360), none).do).toBe('prompt');
  });
  it('a failure that seems to be still to come counts as one of now', () =>
    expect(step(incident('silent-stop'), failed(-3_600), none)).toMatchObject({
      untilMs: expect.toSatisfy((ms: number) => ms < nowMs + 2 * minute),
    }));
  it('as long as is configured', () =>
    expect(step(incident('silent-stop'), failed(90), { ...none, rateLimitBackoffMs: 10 * minute }).do).toBe('wait'));
  it('an overloaded one is tried at once, and then by the pauses of the ladder', () =>
    expect(step(incident('silent-stop'), failed(1, 'overloaded'), none).do).toBe('prompt'));
  it('an agent at a usage limit belongs to its client until three minutes after the reset', () => {
    const limited = failed(3_600, 'rate_limit', { limitedUntilMs: nowMs + 1 });
    for (const check of ['silent-stop', 'stalled-turn', 'context-high', 'spawn-stalled', 'spawn-failed'] as const)
      expect(step(incident(check), limited, none), check).toMatchObject({ do: 'wait', untilMs: nowMs + 1 });
    const left = failed(3_600, 'rate_limit', { limitedUntilMs: nowMs });
    expect(step(incident('silent-stop'), left, none).do).toBe('prompt');
  });
});

describe('a human is told once, then at intervals, until it is over or acknowledged', () => {
  it('at once', () => expect(step(incident('waiting-human'), view('waiting'))).toEqual({ do: 'tell' }));
  it('not again for half an hour', () =>
    expect(step(incident('waiting-human', { tells: 1, lastTellMs: nowMs - 29 * minute }), view('waiting')).do).toBe(
      'wait',
    ));
  it('then again', () =>
    expect(step(incident('waiting-human', { tells: 1, lastTellMs: nowMs - 30 * minute }), view('waiting')).do).toBe(
      'tell',
    ));
  it('never after an acknowledgement', () =>
    expect(step(incident('waiting-human', { tells: 1, lastTellMs: 0, ackedMs: nowMs }), view('waiting')).do).toBe(
      'wait',
    ));
  it('a missing reaction is only recorded', () => expect(step(incident('no-answer'), view('idle')).do).toBe('wait'));
});

describe('a trouble is over', () => {
  it('when its finding is gone', () => expect(isOver(incident('waiting-human'), view('working'), false)).toBe(true));
  it('but a failed turn that is being tried again is not', () =>
    expect(isOver(incident('silent-stop'), view('working'), false)).toBe(false));
  it('until a turn ended well', () =>
    expect(
      isOver(incident('silent-stop'), view('idle', 'manage', { lastTurn: 'ok', lastTurnAtMs: 60 * minute }), false),
    ).toBe(true));
  it('or a human took over and interrupted it', () =>
    expect(
      isOver(
        incident('silent-stop'),
        view('idle', 'manage', { lastTurn: 'interrupted', lastTurnAtMs: 60 * minute }),
        false,
      ),
    ).toBe(true));
  it('but not when a turn ended well that was about something else', () => {
    const answered = { lastTurn: 'ok' as const, lastTurnAtMs: 60 * minute };
    const still = { ...answered, stopped: { sinceMs: 50 * minute, error: '529', errorKind: 'overloaded' } };
    expect(isOver(incident('silent-stop'), view('idle', 'manage', still), false)).toBe(false);
    // To have been let in, any turn will do.
    expect(isOver(incident('auth-failed'), view('idle', 'manage', still), false)).toBe(true);
  });
  it('or the agent is gone', () => expect(isOver(incident('silent-stop'), null, false)).toBe(true));
});

describe('a context that fills up', () => {
  const stay = (index: number, sinceMs = 49 * minute): Partial<AgentView> => ({ band: { index, sinceMs } });
  const high = (given: Partial<Incident> = {}) => incident('context-high', given);
  it('the agent is asked for a handoff, once, when its turn is over', () => {
    expect(step(high(), view('idle'))).toEqual({ do: 'prompt', template: 'high-context' });
    expect(step(high(), view('working'))).toMatchObject({ do: 'wait', for: 'prompt' });
    expect(step(high(), view('waiting'))).toMatchObject({ do: 'wait', for: 'prompt' });
    expect(step(high({ prompts: 1, lastPromptMs: 0 }), view('idle'))).toMatchObject({ do: 'wait', for: null });
  });
  it('not in the moment in which it is idle and the end of its turn is not on record yet', () => {
    const open = (sinceMs: number) =>
      view('idle', 'manage', { turnIsOpen: true, reading: { state: 'idle', sinceMs } as AgentView['reading'] });
    expect(step(high(), open(nowMs - 500)).do).toBe('wait');
    expect(step(high(), open(nowMs - 10_000)).do).toBe('prompt');
  });
  it('one that may only be observed is left alone', () =>
    expect(step(high(), view('idle', 'observe'))).toMatchObject({ do: 'wait', for: null }));
  it('a human is told of a full one, once', () => {
    expect(step(incident('context-full'), view('working'))).toEqual({ do: 'tell' });
    expect(step(incident('context-full', { tells: 1, lastTellMs: 0 }), view('idle'))).toMatchObject({ for: null });
  });
  it('goes on while nobody can look', () => {
    expect(isOver(high(), view('unknown', 'manage', stay(3)), false)).toBe(false);
    expect(isOver(high(), view('idle', 'manage', stay(3)), true)).toBe(false);
  });
  it('is over in another band, after a clear, with another session, or with the agent', () => {
    expect(isOver(high(), view('idle', 'manage', stay(2)), false)).toBe(true);
    expect(isOver(high(), view('idle', 'manage', stay(4)), false)).toBe(true);
    expect(isOver(high(), view('idle', 'manage', { band: null }), false)).toBe(true);
    expect(isOver(high(), view('idle', 'manage', stay(3, 51 * minute)), true)).toBe(true);
    expect(isOver(high(), view('ended', 'manage', stay(3)), false)).toBe(true);
    expect(isOver(high(), null, false)).toBe(true);
  });
});

describe('background work: its parent is asked once, a human only where that cannot be', () => {
  const stalled = (given: Partial<Incident> = {}) => incident('spawn-stalled', { subject: 't', ...given });
  const atPrompt = view('idle', 'manage');
  const behindSubagent = view('working', 'manage', {
    reading: { state: 'working', detail: 'subagent', tool: null } as AgentView['reading'],
  });
  const inSubagent = view('working', 'manage', {
    reading: { state: 'working', detail: 'subagent', tool: 'Agent' } as AgentView['reading'],
  });
  it('at its prompt', () => expect(step(stalled(), atPrompt)).toEqual({ do: 'prompt', template: 'spawn-stalled' }));
  it('also while only background work runs', () => expect(step(stalled(), behindSubagent).do).toBe('prompt'));
  it('not within a turn', () => {
    expect(step(stalled(), inSubagent)).toMatchObject({ do: 'wait', for: 'prompt' });
    expect(step(stalled(), view('waiting'))).toMatchObject({ do: 'wait', for: 'prompt' });
  });
  it('not twice, and no human after it', () =>
    expect(step(stalled({ prompts: 1, lastPromptMs: 0 }), atPrompt)).toMatchObject({ do: 'wait', for: null }));
  it('a human where it may not be prompted', () =>
    expect(step(stalled(), view('idle', 'observe'))).toEqual({ do: 'tell' }));
  it('a human where nothing of it can be said', () =>
    expect(step(stalled({ prompts: promptsSpent }), atPrompt)).toEqual({ do: 'tell' }));
  it('a human where nobody began it', () =>
    expect(nextStep(stalled({ agent: null }), null, facts)).toEqual({ do: 'tell' }));
  it('a human where its parent is gone', () => expect(step(stalled(), view('ended'))).toEqual({ do: 'tell' }));
  it('and that once', () =>
    expect(step(stalled({ tells: 1, lastTellMs: 0 }), view('idle', 'observe'))).toMatchObject({
      do: 'wait',
      for: null,
    }));

  it('given up: the parent once, then a human once', () => {
    const abandoned = (given: Partial<Incident> = {}) => incident('spawn-abandoned', { subject: 't', ...given });
    expect(step(abandoned(), atPrompt)).toEqual({ do: 'prompt', template: 'spawn-abandoned' });
    expect(step(abandoned({ prompts: 1, lastPromptMs: nowMs }), atPrompt)).toMatchObject({ do: 'wait', for: 'tell' });
    expect(step(abandoned({ prompts: 1, lastPromptMs: 0 }), atPrompt)).toEqual({ do: 'tell' });
    expect(step(abandoned({ prompts: 1, lastPromptMs: 0, tells: 1, lastTellMs: 0 }), atPrompt).do).toBe('wait');
  });
  it('a doubt about its last line is only shown', () =>
    expect(step(incident('spawn-looks-failed'), atPrompt)).toMatchObject({ do: 'wait', for: null }));
  it('orphans and failing kinds are for a human, once', () => {
    for (const check of ['orphaned-work', 'spawns-failing'] as const) {
      expect(step(incident(check), atPrompt)).toEqual({ do: 'tell' });
      expect(step(incident(check, { tells: 1, lastTellMs: 0 }), atPrompt).do).toBe('wait');
    }
  });
});
