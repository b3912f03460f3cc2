import { beforeEach, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { found, madeBoard, see } from '../../test/runs/made-board.ts';
import type { Board } from '../findings/board.ts';
import type { Found, Sighting } from '../model/agent.ts';
import { inboxItems, inboxSoon, neededBy, nextOf } from './people.ts';

let board: Board;
let nowMs = viewNowMs;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
const doors = () => ({ board, clock, userHome: '/home/me', host: { id: 'h', name: 'vm' } }) as const;

beforeEach(() => {
  nowMs = viewNowMs;
  board = madeBoard({ clock });
});

/** Seen so, and the round is over: what is to be told is being told. */
function round(seen: readonly { view: Sighting; findings: readonly Found[] }[]): void {
  see(board, seen);
  board.round(() => false);
  for (const open of board.open()) open.step = { do: 'tell' };
  see(board, seen);
}

const asks = { tool: 'Bash', text: 'rm -rf build', source: 'hook' } as const;
const waiting = (minutes: number, agent: string) => agentView('waiting', 'permission', minutes, { agent, asks });

it('a wait that is found after two minutes is told with its whole age', () => {
  const sinceMs = viewNowMs - 147_000;
  round([{ view: waiting(2.45, 'a'), findings: [found('waiting-human', { sinceMs })] }]);
  const [item] = inboxItems(doors());
  expect(item).toMatchObject({ agent: 'a', name: 'a', since: new Date(sinceMs).toISOString() });
  expect(item?.text).toContain('(for 2 min 27 s, since ');
});

it('who waits and nobody was told of yet needs somebody all the same', () => {
  round([
    { view: waiting(0.1, 'young'), findings: [] },
    { view: waiting(5, 'old'), findings: [found('waiting-human', { sinceMs: viewNowMs - 300_000 })] },
    { view: agentView('idle', null, 9, { agent: 'calm' }), findings: [] },
  ]);
  expect(neededBy(doors())).toEqual(['old', 'young']);
  expect(inboxItems(doors()).map(({ agent }) => agent)).toEqual(['old']);
  const [soon] = inboxSoon(doors());
  expect(soon).toMatchObject({ agent: 'young', kind: 'waiting-human', answer_with: [] });
  expect(soon?.text).toContain('it asks for a permission (by its hook): Bash rm -rf build (for 6 s, since ');
});

it('whom somebody has acknowledged needs nobody', () => {
  round([{ view: waiting(5, 'a'), findings: [found('waiting-human')] }]);
  for (const open of board.open()) {
    open.incident.ackedMs = nowMs;
    board.save(open);
  }
  expect([neededBy(doors()), inboxItems(doors()), inboxSoon(doors())]).toEqual([[], [], []]);
});

it.each(['paused', 'watch-mode', 'others-may-follow'] as const)(
  'a message that is held back makes nobody less needed: %s',
  (reason) => {
    round([{ view: waiting(5, 'a'), findings: [found('waiting-human')] }]);
    for (const open of board.open()) open.step = { do: 'wait', for: 'tell', reason, untilMs: null };
    expect(neededBy(doors())).toEqual(['a']);
    expect(inboxItems(doors()).length + inboxSoon(doors()).length).toBe(1);
  },
);

it('what is prompted about first needs nobody yet, and says what comes next', () => {
  round([{ view: agentView('idle', null, 1, { agent: 'a' }), findings: [found('silent-stop')] }]);
  for (const open of board.open())
    open.step = { do: 'wait', for: 'prompt', reason: 'rate-refused', untilMs: viewNowMs + 60_000 };
  expect(neededBy(doors())).toEqual([]);
  const at = new Date(viewNowMs + 60_000).toISOString();
  expect(nextOf('a', doors())).toEqual([{ check: 'silent-stop', subject: null, at, what: 'continue' }]);
});

it('at a usage limit its client goes on by itself, and it says when', () => {
  const limitedUntilMs = viewNowMs + 600_000;
  round([{ view: agentView('limited', null, 1, { agent: 'a', limitedUntilMs }), findings: [found('rate-limited')] }]);
  expect(nextOf('a', doors())).toMatchObject([
    { what: 'it goes on by itself', at: new Date(limitedUntilMs).toISOString() },
  ]);
});

it('the host, and work of which no agent is known, have names too', () => {
  round([]);
  const loose = (check: 'disk-full' | 'spawn-abandoned', project: string) => ({
    host: 'h',
    agent: null,
    project,
    finding: found(check),
  });
  board.post('host', [loose('disk-full', 'vm')]);
  board.post('spawns', [loose('spawn-abandoned', 'shop')]);
  board.round(() => false);
  for (const open of board.open()) open.step = { do: 'tell' };
  expect(neededBy(doors()).sort()).toEqual(['host vm', 'project shop']);
  expect(inboxItems(doors()).map(({ name, text }) => [name, text.split(' ').slice(0, 2).join(' ')])).toEqual([
    ['project shop', 'project shop'],
    ['host vm', 'host vm'],
  ]);
});
