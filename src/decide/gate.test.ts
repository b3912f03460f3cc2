import { describe, expect, it } from 'vitest';
import type { Refusal } from '../model/action.ts';
import type { Authority } from '../model/agent.ts';
import { type GateFacts, whyNotAllowed } from './gate.ts';

const open: GateFacts = { mode: 'act', paused: false, authority: 'manage', hold: 'ours' };
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

  it('an authority, mode or need that it does not know opens nothing', () => {
    expect(decide('nudge', { authority: 'owner' as Authority })).toBe('authority');
    expect(decide('root' as Authority)).toBe('authority');
    expect(decide('nudge', { mode: 'maybe' as never })).toBe('watch-mode');
  });
});
