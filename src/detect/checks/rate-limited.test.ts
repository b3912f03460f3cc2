import { describe, expect, it } from 'vitest';
import { agentView as view } from '../../../test/runs/agent-view.ts';
import { looked } from '../../../test/runs/looked.ts';
import type { AgentView } from '../../model/agent.ts';
import { rateLimited } from './rate-limited.ts';

const words = 'API Error: 429 rate limit, usage limit reached';
const failed = (errorKind: string | null) =>
  view('idle', null, 1, { lastTurn: 'failed', lastTurnAtMs: 1, errorKind, error: words });
const refused = (status: number, times: number) =>
  view('working', 'thinking', 1, { refused: { status, times, sinceMs: 1 }, turnIsOpen: true });

const healthy: [string, AgentView][] = [
  ['an error of another kind that talks of limits', failed('server_error')],
  ['an error of no kind', failed(null)],
  ['a blip that is over at the second try', refused(529, 2)],
  ['a login that is refused', refused(401, 9)],
  ['an agent at its prompt that was refused before', { ...refused(429, 9), ...view('idle', null, 1) }],
  ['an agent at work that had one before', view('working', 'thinking', 1, { errorKind: 'rate_limit', error: words })],
  ['a newer turn whose end is not on record yet', { ...failed('rate_limit'), turnIsOpen: true }],
  ['a turn that ended well after it', { ...failed('rate_limit'), lastTurn: 'ok' }],
  [
    'an allowance nearly used up',
    view('idle', null, 1, { lastTurn: 'ok', limits: [{ name: 'five_hour', percent: 99, resetsAtMs: 1 }] }),
  ],
];

describe('rate-limited', () => {
  it.each(healthy)('raises nothing for %s', (_, given) => expect(looked(rateLimited, given)).toBeNull());
  it('raises a 429 that ended the turn', () => expect(looked(rateLimited, failed('rate_limit'))).toBe(words));
  it.each([
    [429, 'too many requests'],
    [529, 'overloaded'],
  ])('raises a %s that is tried again and again', (status, text) =>
    expect(looked(rateLimited, refused(status, 3))).toBe(
      `${status}, ${text}: refused 3 times in a row, and the client goes on trying`,
    ),
  );
  it('raises a usage limit, and names its reset', () => {
    const error = `${words} · resets 2026-11-15T15:00:00.000Z`;
    expect(looked(rateLimited, view('limited', null, 5, { error }))).toBe(error);
  });
  it('knows the reset from the status line where the record has none', () => {
    const limits = [{ name: 'five_hour', percent: 100, resetsAtMs: Date.parse('2026-11-15T15:00:00Z') }];
    expect(looked(rateLimited, view('limited', null, 5, { limits }))).toBe(
      'its allowance is used up · resets 2026-11-15T15:00:00.000Z',
    );
  });
});
