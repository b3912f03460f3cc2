import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { agentView, viewNowMs } from '../../../test/runs/agent-view.ts';
import { type AgentDocument, agentDocument, findingDocument, type StatusDocument } from '../../daemon/status.ts';
import type { AgentView, Finding } from '../../model/agent.ts';
import type { CheckName } from '../../model/check.ts';
import { width } from './output.ts';
import { statusText } from './status-text.ts';

// Only the day matters: times of another one are shown with theirs.
beforeAll(() => void vi.useFakeTimers({ now: viewNowMs, toFake: ['Date'] }));
afterAll(() => void vi.useRealTimers());

const minute = 60_000;
const at = (minutes: number) => new Date(viewNowMs + minutes * minute).toISOString();
/** On the reader's clock, wherever that is. */
const clock = (minutes: number) => new Date(viewNowMs + minutes * minute).toTimeString().slice(0, 5);

function finding(check: CheckName, more: Partial<Finding> = {}): Finding {
  const evidence = [{ source: 'registry' as const, atMs: viewNowMs, text: 'why' }];
  const none = { subject: null, confidence: 1, sinceMs: viewNowMs, evidence, action: null, slots: null };
  return {
    id: check,
    check,
    severity: 'warning',
    ...none,
    standing: 'seen',
    prompts: 0,
    tells: 0,
    ackedMs: null,
    ...more,
  };
}

const ours = { by: 'us', pid: null, home: null, problem: null } as unknown as AgentDocument['hold'];

function agent(view: AgentView, more: Partial<AgentDocument> = {}): AgentDocument {
  const none = { handoff: null, hold: ours, handoff_waits: false, needs_you: false, next: [], resume: null };
  return { ...agentDocument(view, 'h', [], viewNowMs), ...none, ...more };
}

function status(agents: AgentDocument[], more: Partial<StatusDocument> = {}): StatusDocument {
  const daemon = {
    ...{
      pid: 42,
      since: at(-60),
      paused: false,
      mode: 'act',
      watch_only: false,
      quiet_until: null,
      config_missing: [],
      tick_ms: 2_000,
      bands: [30, 50, 70, 85],
    },
    prompts: { given: 0, in_time: 0 },
  };
  const needs = agents.filter(({ needs_you: needsYou }) => needsYou).map((one) => one.agent);
  return { v: 1, daemon, agents, needs_you: needs, findings: [], ...more };
}

const asks = { tool: 'Bash', text: 'rm -rf build', source: 'hook' } as const;
const waiting = agent(
  agentView('waiting', 'permission', 3, { agent: 'docs-ps', asks, findings: [finding('waiting-human', { tells: 1 })] }),
  { needs_you: true, next: [{ check: 'waiting-human', subject: null, at: at(29), what: 'you were told, again' }] },
);
const stopped = agent(
  agentView('idle', null, 1, { agent: 'api-ps', lastTurn: 'failed', findings: [finding('silent-stop')] }),
  { next: [{ check: 'silent-stop', subject: null, at: at(4), what: 'continue' }] },
);
const killed = agent(
  agentView('ended', null, 5, {
    agent: 'dead-ps',
    endedBadly: 'without closing its session, as a killed process does',
    findings: [finding('ended-unexpectedly', { severity: 'critical' })],
  }),
  { needs_you: true, next: [{ check: 'ended-unexpectedly', subject: null, at: null, what: 'you were told' }] },
);
const context = {
  used: 120_000,
  window: 1_000_000,
  usable: 980_000,
  percent: 12,
  source: 'transcript' as const,
  atMs: 0,
};
const calm = agent(agentView('working', 'tool', 0, { agent: 'shop-ps', context, lastTurn: 'ok' }));
const closed = agent(agentView('ended', null, 9, { agent: 'a-ps' }));

function text(agents: AgentDocument[], room: number, more: Partial<StatusDocument> = {}): string {
  return statusText(status(agents, more), { nowMs: viewNowMs, room, started: 'the client' });
}

const lines = (...given: Parameters<typeof text>) => text(...given).split('\n');

describe('the first line', () => {
  it.each<[string, StatusDocument, string]>([
    [
      'two agents',
      status([calm, killed, waiting], { needs_you: ['dead-ps', 'docs-ps'] }),
      '2 need you: dead-ps, docs-ps ',
    ],
    ['the host', status([calm], { needs_you: ['host vm'] }), '1 needs you: host vm '],
    ['nobody', status([calm, stopped]), 'nobody needs you'],
    ['no agent at all', status([]), 'nobody needs you'],
    ['a hundred', status([], { needs_you: Array(100).fill('x') }), '100 need you: x, x, x, x, x, x, x, x and 92 more '],
  ])('%s', (_name, document, expected) => {
    const [first = ''] = statusText(document, { nowMs: viewNowMs, room: 200, started: '' }).split('\n');
    expect(first.startsWith(expected) ? expected : first).toBe(expected);
  });
});

describe('80 columns', () => {
  it('have who needs somebody first, and all that is wrong with what comes next', () => {
    expect(lines([closed, stopped, calm, waiting, killed], 80).slice(2)).toEqual([
      'AGENT    STATE               FOR  CONTEXT  TROUBLE',
      'dead-ps  ended               5m   -        ended-unexpectedly; you were told',
      `docs-ps  waiting/permission  3m   -        waiting 3m for you: Bash rm -rf`,
      `                                           build; you were told, again at ${clock(29)}`,
      `api-ps   idle                1m   -        silent-stop; continue at ${clock(4)}`,
      'shop-ps  working/tool        0s   12%      -',
      'a-ps     ended               9m   -        -',
    ]);
  });

  it('have every column where nobody is in trouble', () => {
    expect(lines([calm], 80).slice(2)).toEqual([
      'AGENT    STATE         FOR  CONTEXT    LAST TURN  SOURCE    MAY     TROUBLE',
      'shop-ps  working/tool  0s   12% of 1M  ok         registry  manage  -',
    ]);
  });
});

it('40 columns have what is wrong below each row', () => {
  expect(lines([waiting, calm], 40).slice(3)).toEqual([
    'AGENT    STATE               FOR',
    'docs-ps  waiting/permission  3m',
    '  waiting 3m for you: Bash rm -rf build;',
    `  you were told, again at ${clock(29)}`,
    'shop-ps  working/tool        0s',
  ]);
});

it('300 columns have everything, in one line for each', () => {
  const row = `docs-ps  waiting/permission  3m   -          -          registry  manage  waiting 3m for you: Bash rm -rf build; you were told, again at ${clock(29)}`;
  expect(lines([waiting, calm], 300)).toContain(row);
});

it('piped nothing is cut and nothing folded, however long it is', () => {
  const long = agent(agentView('waiting', 'permission', 3, { asks: { ...asks, text: 'x '.repeat(250).trim() } }), {
    needs_you: true,
  });
  const [, , , row = ''] = lines([long], Number.POSITIVE_INFINITY);
  expect(row).toContain('x '.repeat(250).trim());
  expect(lines([long], Number.POSITIVE_INFINITY)).toHaveLength(4);
});

const names = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '-', '長', '🎉', 'ש', 'م', '\u0301', 'é', '✔'), minLength: 1, maxLength: 60 }),
  fc.constant('x'.repeat(200)),
);

it('no line is wider than the terminal, and no outcome is cut, whatever agents are called and ask', {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(fc.integer({ min: 40, max: 300 }), names, names, fc.boolean(), (room, name, asked, isLong) => {
      const what = isLong ? `${asked} `.repeat(40) : asked;
      const next = [{ check: 'waiting-human', subject: null, at: at(29), what: 'you were told, again' }];
      const view = agentView('waiting', 'permission', 3, { agent: name, asks: { ...asks, text: what } });
      const shown = lines([agent(view, { next, needs_you: true }), calm, killed], room);
      expect(shown.filter((line) => width(line) > room)).toEqual([]);
      const words = shown.join('').replaceAll(/\s/g, '');
      expect(words).toContain(`youweretold,againat${clock(29)}`);
      expect(words).toContain('ended-unexpectedly;youweretold');
    }),
    { numRuns: 300 },
  );
});

it('two hundred agents are shown at once', () => {
  const many = Array.from({ length: 200 }, (_, index) => ({
    ...(index % 3 === 0 ? waiting : calm),
    agent: `agent-${index}`,
  }));
  const beganMs = performance.now();
  expect(lines(many, 80).length).toBeGreaterThan(200);
  expect(performance.now() - beganMs).toBeLessThan(200);
});

it('a usage limit says once when it ends, and what comes next', () => {
  const error = `You've hit your limit · resets ${at(60)}`;
  const limited = agent(agentView('limited', null, 1, { error, findings: [finding('rate-limited')] }), {
    next: [{ check: 'rate-limited', subject: null, at: at(63), what: 'it goes on by itself' }],
  });
  const shown = lines([limited], 300).slice(3);
  expect(shown[0]).toContain(`rate-limited; it goes on by itself at ${clock(63)}`);
  expect(shown.slice(1)).toEqual([`a-ps: You've hit your limit · resets ${clock(60)}:00`]);
});

it('troubles of the host stand above all agents', () => {
  const disk = findingDocument(
    finding('disk-full', { evidence: [{ source: 'watchkeeper', atMs: 0, text: 'no room' }] }),
  );
  expect(lines([calm], 80, { findings: [disk] })[2]).toBe('disk-full: no room');
});
