import type { Refusal } from '../model/action.ts';
import type { FreshLook, PaneFacts } from '../model/delivery.ts';

/** May text be typed now? The first reason against it, or null. */
export function whyNotNow(look: FreshLook, pane: PaneFacts | null, nowMs: number, quietMs: number): Refusal | null {
  const [first] = againstTyping(look, pane, nowMs, quietMs);
  return first ?? null;
}

/** Everything that speaks against it, the first reason first. */
export function* againstTyping(
  look: FreshLook,
  pane: PaneFacts | null,
  nowMs: number,
  quietMs: number,
): Generator<Refusal, void> {
  if (pane === null || pane.dead) return yield 'pane-dead';
  if (!look.alive || !look.inPane || !look.foreground) yield 'not-agent';
  if (pane.synchronized) yield 'synchronized';
  if (pane.people.some((person) => nowMs - person.activeAtMs < quietMs)) yield 'human-typing';
  if (pane.controlled) yield 'control-client';
  // Copy mode can be left; in another mode keys do something else altogether.
  if (pane.mode !== '' && pane.mode !== 'copy-mode') yield 'pane-mode';
  const state = whyNotInState(look);
  if (state !== null) yield state;
}

function whyNotInState(look: FreshLook): Refusal | null {
  switch (look.activity) {
    case 'waiting-permission':
      return 'waiting-permission';
    case 'waiting-question':
    case 'waiting-dialog':
      return 'waiting-question';
    case null:
      return look.atSetup ? 'waiting-setup' : 'unsure';
    case 'unclear':
      return 'stale';
    default:
      return null;
  }
}
