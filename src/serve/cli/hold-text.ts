import type { HoldDocument } from '../../actions/holds.ts';

/** Why nothing is done to the agent from here; null: it is ours, or free. */
export function holdText({ by, pid, home, problem }: HoldDocument): string | null {
  if (by === 'other')
    return `held by another Watchkeeper (pid ${pid ?? '?'}, data in ${home ?? '?'}): only observed here`;
  return problem === null ? null : `only observed: ${problem}`;
}
