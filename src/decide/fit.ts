import type { Refusal } from '../model/action.ts';
import type { FreshLook, PaneFacts } from '../model/delivery.ts';

/** May text be typed now? The first reason against it, or null. */
export function whyNotNow(look: FreshLook, pane: PaneFacts | null, nowMs: number, quietMs: number): Refusal | null {
  if (pane === null || pane.dead) return 'pane-dead';
  if (!look.alive || !look.inPane || !look.foreground) return 'not-agent';
  if (pane.synchronized) return 'synchronized';
  if (pane.people.some((person) => nowMs - person.activeAtMs < quietMs)) return 'human-typing';
  if (pane.controlled) return 'control-client';
  // Copy mode can be left; in another mode keys do something else altogether.
  if (pane.mode !== '' && pane.mode !== 'copy-mode') return 'pane-mode';
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
