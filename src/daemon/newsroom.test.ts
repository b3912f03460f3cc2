import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { found, madeBoard, see } from '../../test/runs/made-board.ts';
import type { NextStep } from '../decide/policy.ts';
import type { HandoffWaiting } from '../handoff/handoffs.ts';
import type { AgentView, Mode } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Handoff, HandoffStep } from '../model/handoff.ts';
import type { News } from './news.ts';
import { Newsroom } from './newsroom.ts';

const second = 1_000;

/** Agents, troubles and switches as a test sets them; what is told of them, without the beginning. */
class Room {
  nowMs = viewNowMs;
  mode: Mode = 'act';
  isPaused = false;
  quietUntilMs: number | null = null;
  coming: string | null = null;
  waiting: HandoffWaiting[] = [];
  views: AgentView[] = [agentView('idle', null, 1)];
  checks: CheckName[] = [];
  readonly all: News[] = [];
  readonly #handoffs = { coming: () => this.coming, waiting: () => this.waiting };
  readonly #board = madeBoard({ clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs } });
  readonly #room = new Newsroom({
    clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
    board: this.#board,
    grounds: () => ({ authority: 'manage', ground: { by: 'rule', match: '*-ps', isProjects: false } }),
    mode: () => this.mode,
    paused: () => this.isPaused,
    quietUntilMs: () => this.quietUntilMs,
    notifyMs: () => 120_000,
    tell: (news) => this.all.push(news),
  });

  begin(): this {
    this.#see();
    const looksIn = { clients: '', everyMs: 1, servers: [], tmuxFolder: null, configDirs: [] };
    this.#room.begin(
      { rulesFrom: 'default', modeFrom: 'default', watchOnly: false, isFirst: true, looksIn },
      this.#handoffs,
    );
    return this;
  }

  /** What is told at the next look, a second later. `step`: what the rules have decided about each trouble. */
  look(step?: NextStep): News[] {
    this.nowMs += second;
    this.#see(step);
    const before = this.all.length;
    this.#room.look(this.#handoffs);
    return this.all.slice(before);
  }

  in(state: AgentView['reading']['state'], detail: AgentView['reading']['detail'] = null, more = {}): this {
    const seen = agentView(state, detail, 0, more);
    this.views = [{ ...seen, reading: { ...seen.reading, sinceMs: this.nowMs } }];
    return this;
  }

  handoff(step: HandoffStep, reason: string | null = null): News[] {
    const before = this.all.length;
    const steps = [{ step, atMs: this.nowMs, reason }];
    this.#room.handoff({
      id: 'h',
      agent: 'a-ps',
      file: '/p/h.md',
      trigger: 'rule:at-percent',
      steps,
    } as unknown as Handoff);
    return this.all.slice(before);
  }

  #see(step?: NextStep): void {
    see(
      this.#board,
      this.views.map((view) => ({ view, findings: this.checks.map((check) => found(check)) })),
    );
    this.#board.round(() => false, true);
    for (const open of this.#board.open()) open.step = step ?? open.step;
  }
}

const starting = (untilMs: number): NextStep => ({ do: 'wait', for: 'prompt', reason: 'starting', untilMs });
const kinds = (told: News[]) => told.map(({ kind }) => kind);

describe('what is told at the beginning', () => {
  it('who is there and by which rule it may be typed to, then what is wrong, and what will be done when', () => {
    const room = new Room();
    Object.assign(room, { quietUntilMs: viewNowMs + 120_000, checks: ['silent-stop'] });
    room.views.push(agentView('ended', null, 9, { agent: 'old-ps' }));
    room.begin();
    room.look(starting(viewNowMs + 120_000));
    expect(room.all).toMatchObject([
      {
        kind: 'beginning',
        quietUntilMs: viewNowMs + 120_000,
        agents: [{ agent: 'a-ps', state: 'idle', authority: 'manage', ground: { match: '*-ps' }, isInTmux: false }],
      },
      { kind: 'trouble', agent: 'a-ps', check: 'silent-stop', isShownOnly: false, text: 'so it is' },
      { kind: 'trouble', agent: 'old-ps' },
      { kind: 'plan', agent: 'a-ps', does: 'prompt', atMs: viewNowMs + 120_000, why: expect.stringMatching(/just/) },
      { kind: 'plan', agent: 'old-ps' },
    ]);
  });

  it('before it begins nothing is told, whatever happens', () => {
    const room = new Room();
    room.look();
    room.in('working').look();
    room.handoff('requested');
    expect(room.all).toEqual([]);
  });
});

describe('an agent', () => {
  it('is told of when it comes, changes what it does and ends; a thought and a tool of one turn are one', () => {
    const room = new Room().begin();
    expect(kinds(room.look())).toEqual([]);
    expect(room.in('working', 'thinking').look()).toMatchObject([{ kind: 'state', state: 'working', before: 'idle' }]);
    expect(room.in('working', 'tool').look()).toEqual([]);
    expect(room.in('working', 'thinking').look()).toEqual([]);
    // Since it began to work, not since its last thought.
    expect(room.in('idle').look()).toMatchObject([{ state: 'idle', before: 'working', beforeMs: 4 * second }]);
    expect(room.in('waiting', 'permission').look()).toMatchObject([{ state: 'waiting', detail: 'permission' }]);
    expect(room.in('working', 'api-stall').look()).toMatchObject([{ detail: 'api-stall' }]);
    expect(room.in('ended', null, { endedBadly: 'it was killed' }).look()).toMatchObject([{ state: 'ended' }]);
    expect(room.look()).toEqual([]);
    room.views = [agentView('idle', null, 0, { agent: 'new-ps' })];
    expect(room.look()).toMatchObject([{ kind: 'found', agent: 'new-ps', authority: 'manage' }]);
  });

  it('in the place of one that ended is found anew; one that has only begun is told of once it can be read', () => {
    const room = new Room().begin();
    room.in('ended').look();
    expect(room.in('unknown', null, { startedAtMs: room.nowMs }).look()).toEqual([]);
    expect(kinds(room.in('idle').look())).toEqual(['found']);
  });

  it('that waits is told of with the time at which people are called, unless nobody is', () => {
    const room = new Room().begin();
    const waits = () => room.in('waiting', 'permission').look();
    const atMs = room.nowMs + 120_000;
    expect(waits()).toMatchObject([{ state: 'waiting', tellAtMs: atMs }]);
    room.in('working').look();
    room.mode = 'watch';
    expect(waits()).toMatchObject([{ kind: 'mode' }, { state: 'waiting', tellAtMs: null }]);
  });

  it('at a usage limit is told again when the reset is another one', () => {
    const room = new Room().begin();
    const limited = (minutes: number) => room.in('limited', null, { limitedUntilMs: viewNowMs + minutes * 60_000 });
    expect(limited(60).look()).toMatchObject([{ state: 'limited', limitedUntilMs: viewNowMs + 3_600_000 }]);
    expect(limited(60).look()).toEqual([]);
    expect(kinds(limited(90).look())).toEqual(['state']);
  });

  it('that may be treated otherwise from now on is told of', () => {
    const room = new Room().begin();
    expect(room.in('idle', null, { authority: 'observe' }).look()).toEqual([
      { kind: 'authority', agent: 'a-ps', authority: 'observe' },
    ]);
  });
});

describe('a trouble', () => {
  it('is told when it is found and when it is over, each once', () => {
    const room = new Room().begin();
    room.checks = ['looping'];
    expect(room.look()).toMatchObject([{ kind: 'trouble', check: 'looping', isShownOnly: true }]);
    expect(room.look()).toEqual([]);
    room.checks = [];
    room.nowMs += 20 * second;
    expect(room.look()).toMatchObject([{ kind: 'over', check: 'looping' }]);
    expect(room.look()).toEqual([]);
  });

  const wait = (reason: string, until: number | null = null): NextStep =>
    ({ do: 'wait', for: 'prompt', reason, untilMs: until }) as NextStep;

  it('what will be done about it is told once for each reason and time', () => {
    const room = new Room().begin();
    room.checks = ['silent-stop'];
    expect(kinds(room.look(wait('just-opened')))).toEqual(['trouble']);
    expect(room.look(wait('is-working'))).toMatchObject([{ kind: 'plan', atMs: null, why: 'it is working' }]);
    expect(room.look(wait('pause-after-prompt', viewNowMs + 60_000))).toMatchObject([{ atMs: viewNowMs + 60_000 }]);
    // To and fro, and a time that is the same by a clock that trembles.
    expect(room.look(wait('is-working'))).toEqual([]);
    expect(room.look(wait('pause-after-prompt', viewNowMs + 60_400))).toEqual([]);
    expect(room.look(wait('pause-after-prompt', viewNowMs + 90_000))).toMatchObject([{ atMs: viewNowMs + 90_000 }]);
  });

  it.each<[string, NextStep]>([
    ['what is over in a moment', wait('being-prompted')],
    ['what is done now', { do: 'prompt', template: 'continue' }],
    ['where nothing is left to do', { do: 'wait', for: null, reason: 'only-recorded', untilMs: null }],
    ['a second', wait('prompted-lately', viewNowMs + 2 * second)],
    ['that people were told', { do: 'wait', for: 'tell', reason: 'told', untilMs: viewNowMs + 1_800_000 }],
  ])('nobody wonders about, and nobody is told of: %s', (_what, step) => {
    const room = new Room().begin();
    room.checks = ['silent-stop'];
    expect(kinds(room.look(step))).toEqual(['trouble']);
  });

  it('while it is paused no time is promised', () => {
    const room = new Room();
    room.isPaused = true;
    room.begin();
    room.checks = ['silent-stop'];
    expect(kinds(room.look(starting(viewNowMs + 60_000)))).toEqual(['trouble']);
  });
});

describe('what holds everything back', () => {
  it('a pause, its end, another mode and the end of a start are told once', () => {
    const room = new Room();
    room.quietUntilMs = viewNowMs + 60_000;
    room.begin();
    room.quietUntilMs = null;
    expect(kinds(room.look())).toEqual(['acts']);
    room.isPaused = true;
    expect(kinds(room.look())).toEqual(['paused']);
    expect(room.look()).toEqual([]);
    room.isPaused = false;
    expect(kinds(room.look())).toEqual(['unpaused']);
    room.mode = 'watch';
    expect(room.look()).toEqual([{ kind: 'mode', mode: 'watch' }]);
  });
});

describe('a handoff', () => {
  it('that a start holds back is told with its time, once', () => {
    const room = new Room();
    Object.assign(room, { quietUntilMs: viewNowMs + 60_000, coming: 'at-percent' });
    room.begin();
    const plan = { kind: 'handoff-plan', agent: 'a-ps', atMs: viewNowMs + 60_000, reason: 'at-percent' };
    expect(room.all.slice(1)).toEqual([plan]);
    expect(room.look()).toEqual([]);
  });

  it('is told step by step, at its end with the time it took', () => {
    const room = new Room().begin();
    expect(room.handoff('requested')).toMatchObject([{ step: 'requested', trigger: 'rule:at-percent' }]);
    room.nowMs += 17 * second;
    expect(room.handoff('done')).toMatchObject([{ step: 'done', tookMs: 17 * second }]);
  });

  it('that waits for longer than a moment says what for, once', () => {
    const room = new Room().begin();
    const one = { id: 'h', agent: 'a-ps', step: 'requested', reason: 'background-work', sinceMs: room.nowMs } as const;
    room.waiting = [one];
    expect(room.look()).toEqual([]);
    room.nowMs += 10 * second;
    expect(room.look()).toMatchObject([{ kind: 'handoff-waits', why: 'its background work has to end' }]);
    expect(room.look()).toEqual([]);
  });
});
