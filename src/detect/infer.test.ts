import { describe, expect, it } from 'vitest';
import type { ScreenReading } from '../clients/client.ts';
import type { HookFact } from '../model/hook.ts';
import type { SessionFact } from '../model/session-event.ts';
import { untrusted } from '../model/text.ts';
import { type HookFacts, newHookFacts, takeHook } from './hooks.ts';
import { standInActivity } from './infer.ts';
import { newSession, type SessionFacts, takeEvent } from './session.ts';
import { type AgentSigns, judgeAlone, judgeState, lastTurn } from './state.ts';

const nowMs = 1_000_000;

/** Seconds before now. */
function hooks(...timed: [number, HookFact][]): HookFacts {
  const facts = newHookFacts();
  for (const [ago, fact] of timed) takeHook(facts, fact, null, nowMs - ago * 1000);
  return facts;
}

function transcript(...timed: [number, SessionFact][]): SessionFacts {
  const facts = newSession();
  timed.forEach(([ago, fact], index) => {
    takeEvent(facts, { atMs: nowMs - ago * 1000, key: String(index), fact });
  });
  return facts;
}

const unmoved = { sinceMs: 0, drawnMs: null, countedMs: null };

/** Since so many seconds, taken just now. */
function screen(
  shows: ScreenReading['shows'],
  sinceAgo: number,
  more: Partial<ScreenReading> = {},
): AgentSigns['screen'] {
  const nothing = { tool: null, subagents: null, contextLeft: null, turn: null, resets: null };
  const reading = { shows, takesPrompts: true, ...nothing, ...more };
  return { reading, sinceMs: nowMs - sinceAgo * 1000, atMs: nowMs - 100, drawnMs: null, countedMs: null };
}

function signs(given: { hooks?: HookFacts; session?: SessionFacts; screen?: AgentSigns['screen'] }): AgentSigns {
  return {
    nowMs,
    alive: true,
    processSeenAtMs: nowMs,
    suspended: false,
    registry: null,
    session: given.session === undefined ? null : { facts: given.session, seenAtMs: nowMs },
    hooks: given.hooks ?? null,
    screen: given.screen ?? null,
    subagents: new Map(),
    compactAskedMs: null,
    contextShare: null,
  };
}

const label = (given: AgentSigns) => {
  const { state, detail, tool, source } = judgeState(given);
  return `${state}${detail === null ? '' : `/${detail}`}${detail === 'tool' ? ` ${tool}` : ''} by ${source}`;
};

const start: HookFact = { kind: 'session-start', source: 'startup' };
const asked: HookFact = { kind: 'prompt', chars: 5, tags: [] };
const stop: HookFact = { kind: 'turn-end' };
const bash: HookFact = { kind: 'tool-start', id: 'a', tool: 'Bash' };
const mayI: HookFact = { kind: 'permission', tool: 'Bash', asks: null };
const prompt: SessionFact = { kind: 'prompt', origin: 'typed', chars: 5, tags: [] };

describe('without the registry, by what is left', () => {
  const cases: [string, AgentSigns, string][] = [
    ['nothing at all', signs({}), 'unknown/unreadable by process'],
    ['a fresh session', signs({ hooks: hooks([9, start]) }), 'idle by hook'],
    ['a prompt', signs({ hooks: hooks([9, start], [5, asked]) }), 'working/thinking by hook'],
    ['a tool', signs({ hooks: hooks([9, asked], [5, bash]) }), 'working/tool Bash by hook'],
    ['a dialog, by its hook', signs({ hooks: hooks([9, asked], [5, bash], [5, mayI]) }), 'waiting/permission by hook'],
    [
      'a question, by its hook',
      signs({ hooks: hooks([9, asked], [5, { kind: 'permission', tool: 'AskUserQuestion', asks: null }]) }),
      'waiting/question by hook',
    ],
    [
      'a dialog that was answered: the screen has none any more',
      signs({ hooks: hooks([9, asked], [5, bash], [5, mayI]), screen: screen('busy', 2) }),
      'working/tool Bash by hook',
    ],
    [
      'a dialog that is not drawn yet',
      signs({ hooks: hooks([9, asked], [0.5, bash], [0.4, mayI]), screen: screen('busy', 3) }),
      'waiting/permission by hook',
    ],
    ['a turn that ended', signs({ hooks: hooks([9, asked], [5, stop]) }), 'idle by hook'],
    [
      'a turn that was interrupted: only the transcript has that',
      signs({ hooks: hooks([9, asked]), session: transcript([9, prompt], [3, { kind: 'interrupted' }]) }),
      'idle by transcript',
    ],
    [
      'a prompt taken back: only the screen shows it',
      signs({ hooks: hooks([9, asked]), session: transcript([9, prompt]), screen: screen('idle', 4) }),
      'idle by screen',
    ],
    [
      'an idle screen from before the prompt is no word on it',
      signs({ hooks: hooks([1, asked]), screen: screen('idle', 20) }),
      'working/thinking by hook',
    ],
    [
      'a subagent after the end of the turn',
      signs({ hooks: hooks([9, asked], [8, { kind: 'subagent-start', id: 'x' }], [5, stop]) }),
      'working/subagent by hook',
    ],
    ['a compaction', signs({ hooks: hooks([9, asked], [5, { kind: 'compact-start' }]) }), 'compacting by hook'],
    [
      'a compaction that was broken off: the model is asked again',
      signs({
        hooks: hooks([9, asked], [5, { kind: 'compact-start' }]),
        session: transcript([9, prompt], [2, { kind: 'request', digest: 'a' }]),
      }),
      'working/thinking by transcript',
    ],
    [
      'a compaction that was broken off: a new turn',
      signs({ hooks: hooks([9, { kind: 'compact-start' }], [5, stop], [2, asked]) }),
      'working/thinking by hook',
    ],
    ['a dialog on the screen', signs({ screen: screen('permission', 2) }), 'waiting/permission by screen'],
    [
      'a dialog on the screen against an idle transcript',
      signs({ session: transcript([9, prompt], [8, { kind: 'interrupted' }]), screen: screen('dialog', 2) }),
      'waiting/dialog by screen',
    ],
    ['a setup screen', signs({ screen: screen('setup', 2) }), 'waiting/setup by screen'],
    ['a screen at work', signs({ screen: screen('busy', 2) }), 'working/thinking by screen'],
    ['a screen with a tool', signs({ screen: screen('busy', 2, { tool: 'Bash' }) }), 'working/tool Bash by screen'],
    ['a box that says nothing', signs({ screen: screen('box', 2) }), 'unknown/unreadable by process'],
    [
      'an API stall',
      signs({ hooks: hooks([60, asked]), screen: screen('api-stall', 2) }),
      'working/api-stall by screen',
    ],
    [
      'a picture of long ago says nothing',
      signs({ screen: { ...unmoved, reading: screen('idle', 90)?.reading ?? null, atMs: nowMs - 10_000 } }),
      'unknown/unreadable by process',
    ],
  ];
  it.each(cases)('%s', (_what, given, expected) => expect(label(given)).toBe(expected));

  it('a turn that hooks say failed is failed', () => {
    const given = signs({
      hooks: hooks([9, asked], [5, { kind: 'turn-failed', error: 'overloaded', text: untrusted('') }]),
    });
    expect(lastTurn(given, judgeState(given)).end).toBe('failed');
  });

  it('each source alone says what it knows and no more', () => {
    const given = signs({
      hooks: hooks([9, asked]),
      session: transcript([9, prompt], [3, { kind: 'interrupted' }]),
      screen: screen('permission', 2),
    });
    expect(judgeAlone(given, 'hook')).toMatchObject({ state: 'working' });
    expect(judgeAlone(given, 'transcript')).toMatchObject({ state: 'idle' });
    expect(judgeAlone(given, 'screen')).toMatchObject({ state: 'waiting' });
    expect(judgeAlone(given, 'registry')).toBeNull();
  });
});

describe('typing without the registry needs hooks and the screen to agree', () => {
  const idle = hooks([9, start]);
  const cases: [string, AgentSigns, string | null][] = [
    ['both', signs({ hooks: idle, screen: screen('idle', 2) }), 'idle'],
    ['a turn runs', signs({ hooks: hooks([9, asked]), screen: screen('busy', 2) }), 'busy'],
    ['only hooks', signs({ hooks: idle }), null],
    ['only the screen', signs({ screen: screen('idle', 2) }), null],
    ['a screen nobody knows', signs({ hooks: idle, screen: { ...unmoved, reading: null, atMs: nowMs } }), null],
    [
      'a dialog',
      signs({ hooks: idle, screen: screen('permission', 2, { takesPrompts: false }) }),
      'waiting-permission',
    ],
    [
      "a subagent's box",
      signs({ hooks: idle, screen: screen('dialog', 2, { takesPrompts: false }) }),
      'waiting-dialog',
    ],
    ['the client is not there', signs({ hooks: idle, screen: screen('left', 2, { takesPrompts: false }) }), null],
    [
      'a dialog that is not drawn yet',
      signs({ hooks: hooks([9, asked], [0.5, mayI]), screen: screen('busy', 3) }),
      'waiting-permission',
    ],
  ];
  it.each(cases)('%s', (_what, given, expected) => expect(standInActivity(given, nowMs)).toBe(expected));

  it('a picture that is two seconds old is too old', () => {
    expect(standInActivity(signs({ hooks: idle, screen: screen('idle', 9) }), nowMs + 2_000)).toBeNull();
  });
});
