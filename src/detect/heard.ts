import type { StateReading } from '../model/agent.ts';
import type { ScreenSigns } from './state.ts';

/**
 * When an agent at work was last heard by its screen alone. A model that thinks, and a command that prints, leave no
 * record until they are done, which may take twenty minutes; the client counts meanwhile what comes in. Where it does
 * not count thoughts, its row says at least when the service has gone silent, as long as the row itself goes on.
 */
export function heardOnScreen(
  screen: ScreenSigns | null,
  { state, detail }: Pick<StateReading, 'state' | 'detail'>,
): number | null {
  if (screen === null || state !== 'working') return null;
  const within = screen.reading?.turn?.heardWithinMs ?? null;
  if (detail !== 'thinking' || within === null || screen.drawnMs === null) return screen.countedMs;
  return Math.max(screen.drawnMs - within, screen.countedMs ?? 0);
}
