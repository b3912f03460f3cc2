import { describe, expect, it } from 'vitest';
import type { RegistryActivity } from '../model/agent.ts';
import type { SessionFact } from '../model/session-event.ts';
import { untrusted } from '../model/text.ts';
import { newSession, takeEvent } from './session.ts';
import { type AgentSigns, judgeState, lastTurn } from './state.ts';

const nowMs = 1_000_000;

function facts(...timed: [number, SessionFact][]) {
  const session = newSession();
  timed.forEach(([atMs, fact], index) => {
    takeEvent(session, { atMs, key: String(index), fact });
  });
  return session;
}

function signs(
  activity: RegistryActivity | null,
  sinceMs: number,
  session: ReturnType<typeof facts> | null,
): AgentSigns {
  return {
    nowMs,
    alive: true,
    processSeenAtMs: nowMs,
    suspended: false,
    registry:
      activity === null
        ? null
        : {
            entry: {
              pid: 1,
              startTicks: '1',
              sessionId: 'aaaaaaaa',
              cwd: '/p',
              version: '1',
              startedAtMs: 0,
              interactive: true,
              activity,
              sinceMs,
            },
            seenAtMs: nowMs,
          },
    session: session === null ? null : { facts: session, seenAtMs: nowMs },
    hooks: null,
    screen: null,
    subagents: new Map(),
    compactAskedMs: null,
    contextShare: null,
  };
}

const prompt: SessionFact = { kind: 'prompt', origin: 'typed', chars: 2, tags: [] };
const request = (digest: string): SessionFact => ({ kind: 'request', digest });
const reply = (ends: boolean): SessionFact => ({
  kind: 'reply',
  model: 'm',
  messageId: 'x',
  usage: null,
  ends,
  text: untrusted(''),
});
const call = (id: string, tool: string): SessionFact => ({ kind: 'tool-call', id, tool, about: null });
const result = (id: string): SessionFact => ({ kind: 'tool-result', id, isError: false, started: null });
const background = (id: string, kind: 'shell' | 'subagent'): SessionFact => ({
  kind: 'tool-result',
  id: `call-${id}`,
  isError: false,
  started: { kind, id, output: null },
});
const turnEnd: SessionFact = { kind: 'turn-end', durationMs: 1, pendingSubagents: 0 };
const limit = (resetsAtMs: number): SessionFact => ({
  kind: 'api-error',
  error: 'rate_limit',
  status: 429,
  text: untrusted("You've hit your limit"),
  resetsAtMs,
});

const label = (given: AgentSigns) => {
  const { state, detail, tool, source } = judgeState(given);
  return `${[state, detail].filter(Boolean).join('/')}${tool === null ? '' : ` ${tool}`} by ${source}`;
};

describe('the state table, sign by sign', () => {
  const open = () => facts([1, prompt], [2, request('a')]);
  const cases: [string, AgentSigns, string][] = [
    ['at the prompt', signs('idle', 10, null), 'idle by registry'],
    ['model at work', signs('busy', 10, open()), 'working/thinking by registry'],
    ['busy, no transcript yet', signs('busy', 10, null), 'working/thinking by registry'],
    [
      'a tool runs',
      signs('busy', 10, facts([1, prompt], [2, reply(false)], [3, call('c', 'Bash')])),
      'working/tool Bash by transcript',
    ],
    [
      'the tool is done',
      signs('busy', 10, facts([1, prompt], [3, call('c', 'Bash')], [4, result('c')], [5, request('b')])),
      'working/thinking by registry',
    ],
    [
      'a subagent in the foreground',
      signs('busy', 10, facts([1, prompt], [3, call('c', 'Agent')])),
      'working/subagent Agent by transcript',
    ],
    [
      "a subagent after the parent's stop",
      signs('busy', 10, facts([1, prompt], [3, background('s', 'subagent')], [4, turnEnd])),
      'working/subagent by transcript',
    ],
    [
      'a background shell at the prompt',
      signs('shell', 10, facts([1, prompt], [3, background('s', 'shell')], [4, turnEnd])),
      'idle by registry',
    ],
    [
      'permission dialog',
      signs('waiting-permission', 10, facts([1, prompt], [3, call('c', 'Bash')])),
      'waiting/permission by registry',
    ],
    [
      'plan dialog',
      signs('waiting-permission', 10, facts([1, prompt], [3, call('c', 'ExitPlanMode')])),
      'waiting/question by registry',
    ],
    ['question dialog', signs('waiting-question', 10, null), 'waiting/question by registry'],
    ['a menu is open', signs('waiting-dialog', 10, null), 'waiting/dialog by registry'],
    [
      'usage limit, client waits by itself',
      signs('idle', 10, facts([1, prompt], [2, limit(nowMs + 60_000)])),
      'limited by transcript',
    ],
    [
      'usage limit, dialog open',
      signs('waiting-dialog', 10, facts([1, prompt], [2, limit(nowMs + 60_000)])),
      'limited by registry',
    ],
    ['usage limit long over', signs('idle', 10, facts([1, prompt], [2, limit(nowMs - 300_000)])), 'idle by registry'],
    [
      'the same request again',
      signs('busy', 10, facts([1, prompt], [nowMs - 900, request('a')], [nowMs - 100, request('a')])),
      'retrying by transcript',
    ],
    [
      'another request',
      signs('busy', 10, facts([1, prompt], [nowMs - 900, request('a')], [nowMs - 100, request('b')])),
      'working/thinking by registry',
    ],
    [
      'answered after a retry',
      signs('busy', 10, facts([1, prompt], [2, request('a')], [3, request('a')], [nowMs, reply(false)])),
      'working/thinking by registry',
    ],
    [
      'an old version retries',
      signs(
        'busy',
        10,
        facts([1, prompt], [2, { kind: 'retry', attempt: 1, attemptsMax: 10, status: 529, untilMs: nowMs + 500 }]),
      ),
      'retrying by transcript',
    ],
    ['process gone', { ...signs('busy', 10, open()), alive: false }, 'ended by process'],
    ['stopped with Ctrl-Z', { ...signs('idle', 10, null), suspended: true }, 'unknown/suspended by process'],
    ['nothing readable', signs(null, 0, null), 'unknown/unreadable by process'],
    ['a status nobody knows, no transcript', signs('unclear', 0, null), 'unknown/unreadable by process'],
  ];
  it.each(cases)('%s', (_name, given, expected) => expect(label(given)).toBe(expected));
});

describe('compaction leaves no record until it is over', () => {
  const idleSession = facts([1, prompt], [2, request('a')], [3, reply(true)], [4, turnEnd]);
  it('by hand: /compact was typed and the client got busy with it', () =>
    expect(label({ ...signs('busy', 900_000, idleSession), compactAskedMs: 899_900 })).toBe(
      'compacting by transcript',
    ));
  it('an earlier /compact says nothing about a later busy stretch', () =>
    expect(label({ ...signs('busy', 900_000, idleSession), compactAskedMs: 500_000 })).toBe(
      'working/thinking by registry',
    ));
  it('over: the boundary is on record', () => {
    const done = facts(
      [1, prompt],
      [4, turnEnd],
      [899_950, { kind: 'compacted', trigger: 'manual', tokensBefore: 9, tokensAfter: 1 }],
    );
    expect(label({ ...signs('busy', 900_000, done), compactAskedMs: 899_900 })).toBe('working/thinking by registry');
  });
  const waiting = facts([1, prompt], [2, request('a')], [3, reply(true)], [nowMs - 2_000, prompt]);
  it('by itself: the context is rather full and the next request does not come', () =>
    expect(label({ ...signs('busy', 10, waiting), contextShare: 0.9 })).toBe('compacting by transcript'));
  it('a slow start with much room left is no compaction', () =>
    expect(label({ ...signs('busy', 10, waiting), contextShare: 0.1 })).toBe('working/thinking by registry'));
});

describe('sources disagree', () => {
  it('newer beats older: a transcript that goes on after the registry fell silent', () => {
    const late = facts([nowMs - 1_000, prompt], [nowMs - 900, request('a')]);
    expect(label(signs('idle', nowMs - 60_000, late))).toBe('working/thinking by transcript');
  });
  it('structured beats inferred: a call without a result is no work while the registry says idle', () =>
    expect(label(signs('idle', 10, facts([1, prompt], [3, call('c', 'Bash')])))).toBe('idle by registry'));
  it('without the registry the transcript decides, with less confidence', () => {
    const reading = judgeState(signs(null, 0, facts([1, prompt], [3, call('c', 'Bash')])));
    expect(reading).toMatchObject({ state: 'working', detail: 'tool', source: 'transcript' });
    expect(reading.confidence).toBeLessThan(0.6);
  });
});

describe('the last turn', () => {
  const cases: [string, AgentSigns, string | null][] = [
    ['none yet', signs('idle', 10, facts()), null],
    ['ended well', signs('idle', 10, facts([1, prompt], [2, reply(true)], [3, turnEnd])), 'ok'],
    [
      'failed, and its end is recorded as well',
      signs('idle', 10, facts([1, prompt], [2, limit(0)], [3, turnEnd])),
      'failed',
    ],
    ['interrupted', signs('idle', 10, facts([1, prompt], [2, { kind: 'interrupted' }], [3, turnEnd])), 'interrupted'],
    [
      'taken back before any answer: nothing on record but an idle client',
      signs('idle', 10, facts([1, prompt], [2, request('a')])),
      'interrupted',
    ],
    ['an old version without a turn end on record', signs('idle', 10, facts([1, prompt], [2, reply(true)])), 'ok'],
    [
      'a stop hook sends the model back',
      signs('busy', 10, facts([1, prompt], [2, reply(true)], [3, reply(false)], [4, call('c', 'Bash')])),
      'ok',
    ],
  ];
  it.each(cases)('%s', (_name, given, expected) => expect(lastTurn(given, judgeState(given)).end).toBe(expected));

  describe('is an older one while a newer one is open on record', () => {
    const failedThenContinued = () => facts([1, prompt], [2, limit(0)], [3, prompt], [4, request('a')]);
    const turn = (idleMs: number) => {
      const given = signs('idle', nowMs - idleMs, failedThenContinued());
      return lastTurn(given, judgeState(given));
    };
    it('at work', () => {
      const given = signs('busy', nowMs - 60_000, failedThenContinued());
      expect(lastTurn(given, judgeState(given))).toMatchObject({ end: 'failed', isOpen: true });
    });
    it('at its prompt for two seconds: the end may be on its way', () =>
      expect(turn(2_400)).toMatchObject({ end: 'failed', isOpen: true }));
    it('at its prompt for longer: the newer one was taken back', () =>
      expect(turn(2_600)).toMatchObject({ end: 'interrupted', isOpen: false }));
    it('and no longer once it is closed', () => {
      const closed = facts([1, prompt], [2, limit(0)], [3, prompt], [4, reply(true)], [5, turnEnd]);
      const given = signs('idle', nowMs - 10, closed);
      expect(lastTurn(given, judgeState(given))).toMatchObject({ end: 'ok', isOpen: false });
    });
  });
});
