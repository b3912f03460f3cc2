import { describe, expect, it } from 'vitest';
import type { Beginning, DeedNews, News, SeenNews } from '../../../daemon/news.ts';
import { width } from '../output.ts';
import { fitted, Stream } from './stream.ts';

const now = () => new Date(2026, 10, 15, 12, 0, 0);
const at = (minutes: number) => now().getTime() + minutes * 60_000;

function said(news: readonly News[], columns = 80, clock = now): string[] {
  const lines: string[] = [];
  const stream = new Stream((line) => lines.push(line), clock, columns);
  for (const one of news) stream.news(one);
  return lines;
}

/** Without time and name. */
const words = (news: News, columns = 80) => said([news], columns).join('\n').slice(10).trimStart();

const today = (ms: number) => new Date(ms).toDateString() === new Date().toDateString();
/** `when` names the day of a time that is not today's. */
const clockOf = (ms: number) => {
  const day = new Date(ms);
  const time = day.toTimeString().slice(0, 8);
  const two = (n: number) => String(n).padStart(2, '0');
  return today(ms) ? time : `${two(day.getMonth() + 1)}-${two(day.getDate())} ${time.slice(0, 5)}`;
};

const seen: SeenNews = {
  ...{ agent: 'api-ps', state: 'idle', detail: null, lastTurn: null, errorKind: null, endedBadly: null },
  ...{ limitedUntilMs: null, percent: null },
};
const about = { agent: 'api-ps', project: 'api', check: 'silent-stop', subject: null, sinceMs: at(-58) } as const;
const deed: DeedNews = {
  ...{ kind: 'deed', agent: 'api-ps', deed: 'prompt', trigger: 'rule:silent-stop', by: 'rule', text: 'Go on.' },
  ...{ tag: 'wk-1af7', channels: [], outcome: 'confirmed', reason: null, answerMs: null },
  because: { check: 'silent-stop', sinceMs: at(-58), more: 0 },
};
const persons = { trigger: 'human', by: 'human ann', because: null } as const;
const rule = { authority: 'manage', ground: { by: 'rule', match: '*-ps', isProjects: false } } as const;

describe('one line for each piece of news', () => {
  it.each<[string, News, string]>([
    ['a new agent', { kind: 'found', ...seen, ...rule }, 'found, idle; may be prompted and handed over (rule *-ps)'],
    [
      'one that nobody may type to',
      { kind: 'found', ...seen, authority: 'observe', ground: { by: 'outside-tmux' } },
      'found, idle; only watched (outside tmux)',
    ],
    ['work', { kind: 'state', ...seen, state: 'working', before: 'idle', beforeMs: 1, tellAtMs: null }, 'works'],
    [
      'its end',
      { kind: 'state', ...seen, before: 'working', beforeMs: 42_000, tellAtMs: null },
      'idle after 42s of work',
    ],
    [
      'a turn that failed',
      {
        kind: 'state',
        ...seen,
        lastTurn: 'failed',
        errorKind: 'server_error',
        before: 'retrying',
        beforeMs: 9,
        tellAtMs: null,
      },
      'idle, its turn failed (server_error)',
    ],
    [
      'a dialog',
      {
        kind: 'state',
        ...seen,
        state: 'waiting',
        detail: 'permission',
        before: 'working',
        beforeMs: 9,
        tellAtMs: at(2),
      },
      `waits for a permission; you are told at ${clockOf(at(2))}`,
    ],
    [
      'a usage limit with its reset',
      {
        kind: 'state',
        ...seen,
        state: 'limited',
        limitedUntilMs: at(60),
        before: 'working',
        beforeMs: 9,
        tellAtMs: null,
      },
      `is at a usage limit until ${clockOf(at(60))}`,
    ],
    [
      'an end',
      {
        kind: 'state',
        ...seen,
        state: 'ended',
        endedBadly: 'it was killed',
        before: 'working',
        beforeMs: 9,
        tellAtMs: null,
      },
      'ended: it was killed',
    ],
    [
      'a trouble',
      { kind: 'trouble', ...about, severity: 'warning', text: 'server_error', isKnown: false, isShownOnly: false },
      `found silent-stop since ${clockOf(at(-58))}: server_error`,
    ],
    [
      'one that is only shown, and that an earlier run found',
      { kind: 'trouble', ...about, check: 'looping', severity: 'warning', text: 'x', isKnown: true, isShownOnly: true },
      `still looping since ${clockOf(at(-58))}, only shown: x`,
    ],
    ['its end', { kind: 'over', ...about, lastedMs: 660_000 }, 'silent-stop is over after 11m'],
    [
      'what will be done, and when',
      { kind: 'plan', ...about, does: 'prompt', atMs: at(2), why: 'it starts' },
      `will prompt it about silent-stop at ${clockOf(at(2))}: it starts`,
    ],
    [
      'what will be done, not known when',
      { kind: 'plan', ...about, does: 'tell', atMs: null, why: 'it is working' },
      'will tell you about silent-stop, but not now: it is working',
    ],
    [
      'a handoff to come',
      { kind: 'handoff-plan', agent: 'a', atMs: at(2), reason: 'at-percent' },
      `will hand its context over at ${clockOf(at(2))}: much of it is used`,
    ],
    [
      'a prompt of a rule, and because of what',
      deed,
      `prompted: confirmed, because of silent-stop since ${clockOf(at(-58))}`,
    ],
    [
      'a prompt that was refused',
      { ...deed, outcome: 'refused', reason: 'human-typing' },
      'not prompted about silent-stop: human-typing',
    ],
    [
      'one that is not typed for it only watches',
      { ...deed, outcome: 'refused', reason: 'watch-mode' },
      'would prompt it about silent-stop, but only watches',
    ],
    [
      'one of which nobody knows',
      { ...deed, outcome: 'uncertain', reason: 'no-proof', because: null },
      'prompted: uncertain (no-proof), by rule:silent-stop [wk-1af7]',
    ],
    ['an answer', { ...deed, outcome: 'answered', answerMs: 2_000 }, 'answered [wk-1af7] after 2s'],
    ["a person's prompt", { ...deed, ...persons }, 'ann prompted it: confirmed, "Go on." [wk-1af7]'],
    [
      "an agent's",
      { ...deed, ...persons, by: 'agent b-ps', outcome: 'refused', reason: 'busy' },
      'agent b-ps prompted it: refused (busy), "Go on." [wk-1af7]',
    ],
    [
      "a person's word",
      { ...deed, ...persons, deed: 'authority', text: 'observe' },
      'ann set its authority to observe',
    ],
    ['an interruption', { ...deed, ...persons, deed: 'interrupt', text: null }, 'ann interrupted it: confirmed'],
    [
      'a message',
      { ...deed, deed: 'notify', outcome: 'told', reason: 'inbox-only' },
      `told you because of silent-stop (inbox) since ${clockOf(at(-58))}`,
    ],
    [
      'a message that did not arrive',
      { ...deed, deed: 'notify', outcome: 'failed', reason: 'phone: 503' },
      'could not tell you about silent-stop: phone: 503',
    ],
    [
      'a handoff that begins',
      {
        kind: 'handoff',
        agent: 'a',
        step: 'requested',
        reason: null,
        file: '/f',
        trigger: 'rule:at-percent',
        tookMs: 0,
      },
      'handoff of its context begins, because much of it is used',
    ],
    [
      'that is done',
      { kind: 'handoff', agent: 'a', step: 'done', reason: null, file: '/f', trigger: 'human', tookMs: 17_000 },
      'handoff done after 17s',
    ],
    [
      'that waits',
      { kind: 'handoff-waits', agent: 'a', step: 'requested', why: 'its background work' },
      'handoff goes on later: its background work (it is requested)',
    ],
    ['a pause', { kind: 'paused' }, 'paused: nothing is done until `watchkeeper unpause`'],
    ['the end of a start', { kind: 'acts' }, 'the start is over: rules act from now on'],
  ])('%s', (_name, news, text) => {
    const line = words(news);
    // The name of nobody is that of the program.
    expect(line.replace(/^\S+ {2,}/, '')).toBe(text);
  });
});

describe('whatever the terminal', () => {
  const long: News = {
    kind: 'trouble',
    ...about,
    severity: 'critical',
    text: 'word '.repeat(60),
    isKnown: false,
    isShownOnly: false,
  };
  const all: News[] = [
    long,
    deed,
    { kind: 'plan', ...about, agent: `${'x'.repeat(60)}-ps`, does: 'prompt', atMs: at(2), why: 'y '.repeat(60) },
  ];

  it.each([40, 80, 300])('of %d columns: no line is longer, nor longer than 80', (columns) => {
    for (const line of said(all, columns)) expect(width(line), line).toBeLessThanOrEqual(Math.min(80, columns));
  });

  it('of 40 columns: what came of it is never what is cut', () => {
    expect(words(deed, 40)).toMatch(/^api-ps {3}prompted: confirmed/);
    expect(words({ ...deed, outcome: 'refused', reason: 'draft' }, 60)).toContain(
      'not prompted about silent-stop: draft',
    );
  });

  it('names with emoji and letters of two columns are counted as wide as they are', () => {
    const lines = said([
      { ...deed, agent: '🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀-ps' },
      { ...deed, agent: '作業作業作業作業作業作業作業-ps' },
    ]);
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(80);
  });

  it('names and texts turn nothing round and clear no screen', () => {
    const evil = 'a\u202eb\u001b[2J\nwatchkeeper: all is well';
    const [line = ''] = said([{ ...deed, ...persons, agent: evil, text: evil, outcome: 'refused', reason: 'busy' }]);
    expect(line).not.toMatch(/[\u202e\u001b\n]/);
  });

  it('what is ours is plain ASCII, so it can be read without UTF-8', () => {
    for (const line of said([deed, { kind: 'paused' }, { kind: 'acts' }])) expect(line).toMatch(/^[\x20-\x7e]*$/);
  });
});

it('the times are those at which it is said, so they never go backwards; another day is named', () => {
  let ms = new Date(2026, 10, 15, 23, 59, 58).getTime();
  const lines: string[] = [];
  const stream = new Stream(
    (line) => lines.push(line),
    () => new Date(ms),
    80,
  );
  stream.news({ kind: 'paused' });
  ms += 4_000;
  stream.news({ kind: 'unpaused' });
  expect(lines.map((line) => line.slice(0, 15))).toEqual(['23:59:58  watch', 'Mon Nov 16 2026', '00:00:02  watch']);
});

it('for --verbose a reply that is recorded in pieces is told once', () => {
  const lines: string[] = [];
  const stream = new Stream((line) => lines.push(line), now, 80);
  const event = { id: 'e', atMs: 0, agent: 'a', sessionId: null, source: 'transcript' } as const;
  const reply = (messageId: string) => stream.event({ ...event, kind: 'reply', data: { model: 'm', messageId } });
  for (const id of ['1', '1', '2', '2']) reply(id);
  stream.event({ ...event, kind: 'request', data: {} });
  stream.event({ ...event, kind: 'tool-call', data: { tool: 'Bash' } });
  expect(lines).toEqual(['12:00:00  a  reply  m', '12:00:00  a  reply  m', '12:00:00  a  tool-call  Bash']);
});

describe('how a line is made to fit', () => {
  it.each<[string, string, string[], number, string]>([
    ['all of it', 'done', [' since 9', ' [x]'], 40, 'done since 9 [x]'],
    ['what fits, as a whole', 'done', [' since yesterday', ' [x]'], 12, 'done [x]'],
    ['an explanation may be cut', 'done', [': because it was so'], 20, 'done: because it wa…'],
    ['what must be there is cut last', 'not prompted at all', [], 10, 'not promp…'],
  ])('%s', (_name, need, more, room, line) => {
    expect(fitted(need, more, room)).toBe(line);
  });
});

describe('what up begins with', () => {
  const agent = { ...seen, isInTmux: true, ...rule };
  const looksIn = {
    clients: 'Claude Code',
    everyMs: 2_000,
    servers: [],
    tmuxFolder: '/tmp/tmux-0',
    configDirs: ['/h/.c'],
  };
  const beginning: Beginning = {
    ...{ kind: 'beginning', agents: [agent], rulesFrom: 'default', mode: 'act', modeFrom: 'default', watchOnly: false },
    ...{ paused: false, quietUntilMs: at(2), isFirst: true, looksIn },
  };
  const text = (more: Partial<Beginning>, columns = 80) =>
    said([{ ...beginning, ...more }], columns)
      .map((line) => line.slice(10))
      .join('\n');

  it('found, whom it may type to by which rule, from when on, and how to stop that', () => {
    const notes = {
      ...agent,
      agent: 'p-412',
      isInTmux: false,
      authority: 'observe',
      ground: { by: 'outside-tmux' },
    } as const;
    const failed = { ...agent, agent: 'docs-ps', lastTurn: 'failed', percent: 47.6 } as const;
    expect(text({ agents: [agent, failed, notes] })).toBe(
      [
        'found 3 agents, 2 in tmux, 1 outside',
        'api-ps: idle',
        'docs-ps: idle, its turn failed, 47% of its context used',
        'p-412: idle',
        'may prompt and hand over api-ps, docs-ps (rule *-ps: manage, built in)',
        'only watches p-412 (outside tmux)',
        `this is the first start: rules do nothing before ${clockOf(at(2))}`,
        '(start.firstQuietSeconds); what you ask for is done at once',
        'to stop that: `watchkeeper pause` for all, `watchkeeper authority NAME',
        'observe` for one, `watchkeeper up --watch-only` from the start',
      ].join('\n'),
    );
  });

  it('without an agent it says so, where it looks, and that it goes on looking', () => {
    const lines = text({ agents: [] });
    expect(lines).toMatch(/^no agent yet; it looks for Claude Code every 2 s/);
    expect(lines).toContain('in tmux: no server of yours runs in /tmp/tmux-0');
    expect(lines).toContain('/h/.c');
    const servers = [{ socket: '/tmp/tmux-0/default', panes: 3 }];
    expect(text({ agents: [], looksIn: { ...looksIn, servers } })).toContain('in tmux: /tmp/tmux-0/default (3 panes)');
  });

  it.each<[string, Partial<Beginning>, RegExp]>([
    ['later starts', { isFirst: false }, /it has just started: rules do nothing before [^(]*\(start\.quietSeconds\)/],
    ['no quiet time at all', { quietUntilMs: null }, /^rules act from now on$/m],
    ['--watch-only', { watchOnly: true, mode: 'watch' }, /this run only watches \(--watch-only\): nothing is typed/],
    [
      'watch mode, and where it is said',
      { mode: 'watch', modeFrom: 'c.yaml:3' },
      /only watches \(mode: watch, c\.yaml:3\)/,
    ],
    ['that nobody may be typed to then', { mode: 'watch' }, /could prompt and hand over/],
    ['a pause', { paused: true }, /^paused: nothing is done until `watchkeeper unpause`$/m],
    ["a rule of the user's own", { rulesFrom: '/c.yaml:4' }, /\(rule \*-ps: manage, in\s+\/c\.yaml:4\)/],
  ])('says %s', (_name, more, line) => {
    expect(text(more)).toMatch(line);
  });

  it('of 200 agents it says how many do what and who is meant, in a screen', () => {
    const many = Array.from({ length: 200 }, (_, n) => ({ ...agent, agent: `worker-${n}-ps` }));
    const lines = text({ agents: many }).split('\n');
    expect(lines.length).toBeLessThan(20);
    expect(lines.join(' ')).toContain('and 192 more');
  });

  it.each([40, 300])('nothing of it is cut at %d columns', (columns) => {
    const flat = (lines: string) => lines.replaceAll(/\s+/g, ' ');
    expect(flat(text({}, columns))).toBe(flat(text({})));
  });
});
