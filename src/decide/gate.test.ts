import { describe, expect, it } from 'vitest';
import type { Refusal, Trigger } from '../model/action.ts';
import type { Authority } from '../model/agent.ts';
import type { Caller } from '../model/caller.ts';
import { type GateFacts, isRules, quietMs, whyNotAllowed } from './gate.ts';

const open: GateFacts = { mode: 'act', paused: false, starting: false, authority: 'manage', hold: 'ours' };
const decide = (needs: Authority, facts: Partial<GateFacts> = {}) => whyNotAllowed(needs, { ...open, ...facts });

describe('the one gate for rules, people and programs', () => {
  it.each<[Authority, Authority, Refusal | null]>([
    ['observe', 'observe', null],
    ['observe', 'nudge', null],
    ['observe', 'manage', null],
    ['nudge', 'observe', 'authority'],
    ['nudge', 'nudge', null],
    ['nudge', 'manage', null],
    ['manage', 'observe', 'authority'],
    ['manage', 'nudge', 'authority'],
    ['manage', 'manage', null],
  ])('what needs %s, of an agent with %s: %s', (needs, authority, reason) => {
    expect(decide(needs, { authority })).toBe(reason);
  });

  it.each<Authority>(['observe', 'nudge', 'manage'])('is shut while paused and in watch mode, also for %s', (needs) => {
    expect(decide(needs, { paused: true })).toBe('paused');
    expect(decide(needs, { mode: 'watch' })).toBe('watch-mode');
    expect(decide(needs, { paused: true, mode: 'watch' })).toBe('paused');
  });

  it.each<Authority>(['observe', 'nudge', 'manage'])(
    'is shut for rules while a start is quiet, also for %s',
    (needs) => {
      expect(decide(needs, { starting: true })).toBe('starting');
      // What lasts longer is said first.
      expect(decide(needs, { starting: true, paused: true })).toBe('paused');
      expect(decide(needs, { starting: true, mode: 'watch' })).toBe('watch-mode');
    },
  );

  it('an authority, mode or need that it does not know opens nothing', () => {
    expect(decide('nudge', { authority: 'owner' as Authority })).toBe('authority');
    expect(decide('root' as Authority)).toBe('authority');
    expect(decide('nudge', { mode: 'maybe' as never })).toBe('watch-mode');
  });
});

describe('a start is quiet', () => {
  it.each<[string, Caller | null, Trigger, boolean]>([
    ['a rule', 'rule', 'rule:silent-stop', true],
    ['a handoff that a rule began', 'rule', 'handoff', true],
    ['a handoff of which nobody knows who began it', null, 'handoff', true],
    ["a person's prompt", 'human ann', 'human', false],
    ["an agent's prompt by our own program", 'agent a-ps', 'human', false],
    ['a handoff that a person began', 'human ann', 'handoff', false],
    ['a person who only asks what would be done', null, 'human', false],
  ])('for rules, not for people: %s', (_name, by, trigger, isQuiet) => {
    expect(isRules({ by, trigger })).toBe(isQuiet);
  });

  const start = { firstQuietSeconds: 120, quietSeconds: 10 };
  it.each([
    ['the first', { isFirst: true, isOnce: false }, 120_000],
    ['a later one', { isFirst: false, isOnce: false }, 10_000],
    [
      'the first, of a single round: it is over before anything could be done',
      { isFirst: true, isOnce: true },
      120_000,
    ],
    ['a later single round acts, as it was told to', { isFirst: false, isOnce: true }, 0],
  ])('so long: %s', (_name, which, ms) => {
    expect(quietMs(start, which)).toBe(ms);
  });
});
