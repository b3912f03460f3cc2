import { describe, expect, it } from 'vitest';
import type { AgentView, Detail, State } from '../model/agent.ts';
import { valuesOf } from './checks.ts';
import { examine } from './health.ts';
import type { LoopTrouble } from './loops/watch.ts';

const minute = 60_000;
const nowMs = 1_000 * minute;
const limits = valuesOf();

function view(
  state: State,
  detail: Detail | null,
  silentMinutes: number,
  more: Partial<AgentView> & { tool?: string } = {},
): AgentView {
  const atMs = nowMs - silentMinutes * minute;
  return {
    agent: 'a',
    asks: null,
    reading: {
      state,
      detail,
      sinceMs: atMs,
      source: 'registry',
      confidence: 0.95,
      seenAtMs: nowMs,
      tool: more.tool ?? null,
    },
    lastTurn: null,
    lastTurnAtMs: null,
    turnIsOpen: false,
    lastActivityMs: atMs,
    error: null,
    stopped:
      more.lastTurn === 'failed'
        ? { sinceMs: more.lastTurnAtMs ?? atMs, error: more.error ?? null, errorKind: null }
        : null,
    refused: null,
    endedBadly: null,
    context: null,
    band: null,
    ...more,
  } as AgentView;
}

function filled(percent: number, index: number): Partial<AgentView> {
  const used = percent * 2_000;
  const context = { used, window: 200_000, usable: 180_000, percent, source: 'transcript' as const, atMs: nowMs };
  return { context, band: { index, sinceMs: nowMs } };
}

const found = (given: AgentView, unansweredSinceMs: number | null = null, loops: LoopTrouble[] = [], missedMs = 0) =>
  examine(
    {
      view: given,
      nowMs,
      answerMs: 30_000,
      unansweredSinceMs,
      loops,
      completion: null,
      missedSince: () => missedMs,
    },
    limits,
  ).findings.map((finding) => finding.check);

describe('what is trouble, and what only looks like it', () => {
  const cases: [string, AgentView, string[]][] = [
    ['healthy: idle for a day after a good turn', view('idle', null, 1_440, { lastTurn: 'ok' }), []],
    ['healthy: interrupted by its human', view('idle', null, 60, { lastTurn: 'interrupted' }), []],
    ['healthy: waits for one minute', view('waiting', 'permission', 1), []],
    ['healthy: thinks for five minutes, the client tries again itself', view('working', 'thinking', 5), []],
    ['healthy: a tool of nine minutes', view('working', 'tool', 9, { tool: 'Bash' }), []],
    ['healthy: an MCP tool of fourteen minutes', view('working', 'tool', 14, { tool: 'mcp__x__y' }), []],
    [
      'healthy: a subagent that moved a minute ago',
      view('working', 'subagent', 60, { lastActivityMs: nowMs - minute }),
      [],
    ],
    ['healthy: closed at its prompt', view('ended', null, 5), []],
    ['healthy: compacting for ten minutes', view('compacting', null, 10), []],
    ['parked at a usage limit', view('limited', null, 120, { limits: [] }), ['rate-limited']],
    ['waits for two minutes', view('waiting', 'permission', 2), ['waiting-human']],
    ['a question overnight', view('waiting', 'question', 600), ['waiting-human']],
    ['a turn given up after errors', view('idle', null, 1, { lastTurn: 'failed', error: '529' }), ['silent-stop']],
    [
      'healthy: continued after a failed turn, and idle before the end of the new one is on record',
      view('idle', null, 1, { lastTurn: 'failed', error: '529', turnIsOpen: true }),
      [],
    ],
    [
      'healthy: idle for half a second, long after a failed turn: the newer one is not on record yet',
      view('idle', null, 0.5 / 60, { lastTurn: 'failed', lastTurnAtMs: nowMs - minute, error: '529' }),
      [],
    ],
    [
      'a turn given up half a second ago',
      view('idle', null, 0.5 / 60, { lastTurn: 'failed', lastTurnAtMs: nowMs - 600, error: '529' }),
      ['silent-stop'],
    ],
    [
      'a turn given up a minute ago, and a dialog closed since',
      view('idle', null, 2 / 60, { lastTurn: 'failed', lastTurnAtMs: nowMs - minute, error: '529' }),
      ['silent-stop'],
    ],
    [
      'a turn given up after errors, and an answer to another question since',
      view('idle', null, 1, { lastTurn: 'ok', stopped: { sinceMs: nowMs, error: '529', errorKind: 'overloaded' } }),
      ['silent-stop'],
    ],
    ['a silent stream', view('working', 'thinking', 6), ['stalled-turn']],
    ['a tool that hangs', view('working', 'tool', 11, { tool: 'Bash' }), ['stalled-turn']],
    ['an MCP tool that hangs', view('working', 'tool', 16, { tool: 'mcp__x__y' }), ['stalled-turn']],
    ['healthy: two thirds of its context used', view('idle', null, 1, filled(66, 2)), []],
    ['healthy: a full context of an agent that has ended', view('ended', null, 1, filled(95, 4)), []],
    ['healthy: a full context nobody can be sure of', view('unknown', null, 1, filled(95, 4)), []],
    ['much of its context used', view('working', 'thinking', 0, filled(75, 3)), ['context-high']],
    ['just below the edge again, in the same stay', view('idle', null, 1, filled(69, 3)), ['context-high']],
    ['nearly all of its context used', view('idle', null, 1, filled(91, 4)), ['context-full']],
    ['killed', view('ended', null, 1, { endedBadly: 'while it was working' }), ['ended-unexpectedly']],
  ];
  it.each(cases)('%s', (_name, given, expected) => expect(found(given)).toEqual(expected));

  it('a prompt without any reaction after half a minute', () => {
    expect(found(view('working', 'thinking', 0), nowMs - 29_000)).toEqual([]);
    expect(found(view('working', 'thinking', 0), nowMs - 31_000)).toEqual(['no-answer']);
  });

  it('a prompt is not without reaction because the machine slept', () => {
    expect(found(view('working', 'thinking', 0), nowMs - 600_000, [], 571_000)).toEqual([]);
    expect(found(view('working', 'thinking', 0), nowMs - 600_000, [], 569_000)).toEqual(['no-answer']);
  });

  it('a loop on record, while it works and no longer', () => {
    const loop: LoopTrouble = {
      check: 'looping',
      from: 1,
      index: 2,
      atMs: nowMs,
      sinceMs: nowMs - minute,
      text: 'again',
    };
    expect(found(view('working', 'tool', 0), null, [loop])).toEqual(['looping']);
    for (const state of ['idle', 'ended', 'compacting', 'unknown'] as const)
      expect(found(view(state, null, 0), null, [loop])).toEqual([]);
  });

  it('says of every other check why it found nothing', () => {
    const { fine } = examine(
      {
        view: view('idle', null, 5, { lastTurn: 'ok' }),
        nowMs,
        answerMs: 30_000,
        unansweredSinceMs: null,
        loops: [],
        completion: null,
        missedSince: () => 0,
      },
      limits,
    );
    expect(fine.map(({ check }) => check)).toEqual([
      'auth-failed',
      'cognitive-decay',
      'completion-missing',
      'context-full',
      'context-high',
      'cost-spike',
      'edit-revert',
      'ended-unexpectedly',
      'entropy',
      'error-acceleration',
      'looping',
      'low-cache',
      'low-efficiency',
      'never-started',
      'no-answer',
      'no-progress',
      'rate-limited',
      'repeated-error',
      'repetition',
      'silent-stop',
      'stalled-turn',
      'token-burn',
      'waiting-human',
    ]);
    for (const { reason } of fine) expect(reason).not.toBe('');
  });
});
