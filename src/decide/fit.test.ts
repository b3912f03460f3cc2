import { describe, expect, it } from 'vitest';
import type { Refusal } from '../model/action.ts';
import type { FreshLook, PaneFacts } from '../model/delivery.ts';
import { whyNotNow } from './fit.ts';

const nowMs = 1_000_000;
const quietMs = 30_000;
const atPrompt: FreshLook = { alive: true, foreground: true, activity: 'idle', atSetup: false, inPane: true };
const quietPane: PaneFacts = { pid: 1, dead: false, mode: '', synchronized: false, people: [], controlled: false };
const pressed = (agoMs: number) => ({ activeAtMs: nowMs - agoMs });

function decide(look: Partial<FreshLook>, pane: Partial<PaneFacts> | null): Refusal | null {
  return whyNotNow({ ...atPrompt, ...look }, pane === null ? null : { ...quietPane, ...pane }, nowMs, quietMs);
}

describe('text may be typed', () => {
  it.each<[string, Partial<FreshLook>, Partial<PaneFacts>]>([
    ['to an agent at its prompt', {}, {}],
    ['to one at work, whose client queues it', { activity: 'busy' }, {}],
    ['to one whose background shell runs', { activity: 'shell' }, {}],
    ['under people who have been quiet for long enough', {}, { people: [pressed(quietMs), pressed(quietMs * 10)] }],
    ['out of copy mode, which can be left', {}, { mode: 'copy-mode' }],
    ['after its first prompt, whatever was said of a setup before', { atSetup: true }, {}],
  ])('%s', (_what, look, pane) => {
    expect(decide(look, pane)).toBeNull();
  });
});

/** Each of these alone is enough: everything else would allow it. */
describe('nothing is typed', () => {
  it.each<[string, Refusal, Partial<FreshLook>, Partial<PaneFacts> | null]>([
    ['where there is no pane, or tmux does not answer', 'pane-dead', {}, null],
    ['into a dead pane', 'pane-dead', {}, { dead: true }],
    ['to a process that is gone, or another one', 'not-agent', { alive: false }, {}],
    ['where the client is not in the pane', 'not-agent', { inPane: false }, {}],
    ['to a client that is stopped or behind a shell', 'not-agent', { foreground: false }, {}],
    ['where all panes get what one gets', 'synchronized', {}, { synchronized: true }],
    ['under a person at the keyboard', 'human-typing', {}, { people: [pressed(quietMs - 1)] }],
    ['under one of two who is', 'human-typing', {}, { people: [pressed(quietMs * 9), pressed(0)] }],
    ['under a person whose clock is ahead', 'human-typing', {}, { people: [pressed(-5_000)] }],
    ['while a client in control mode has the pane', 'control-client', {}, { controlled: true }],
    ['in a mode of tmux where keys mean something else', 'pane-mode', {}, { mode: 'tree-mode' }],
    ['into a permission dialog', 'waiting-permission', { activity: 'waiting-permission' }, {}],
    ['into a question', 'waiting-question', { activity: 'waiting-question' }, {}],
    ['into any other dialog', 'waiting-question', { activity: 'waiting-dialog' }, {}],
    ['before the first prompt', 'waiting-setup', { activity: null, atSetup: true }, {}],
    ['where nothing says what it is doing', 'unsure', { activity: null }, {}],
    ['where its registry says what nobody knows', 'stale', { activity: 'unclear' }, {}],
  ])('%s: %s', (_what, reason, look, pane) => {
    expect(decide(look, pane)).toBe(reason);
  });
});

it('the nearest reason is said: a dead pane before a person, a person before a dialog', () => {
  const people = [pressed(0)];
  expect(decide({ activity: 'waiting-permission' }, { dead: true, people })).toBe('pane-dead');
  expect(decide({ activity: 'waiting-permission' }, { people, controlled: true })).toBe('human-typing');
});
