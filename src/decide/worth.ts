import type { Ground } from '../detect/check.ts';
import { definitionOf } from '../detect/checks.ts';
import type { CheckName } from '../model/check.ts';
import type { Ending, Verdict } from '../model/score.ts';

export const precisionMin = 0.9;

/** May anything be done about it, or is it only shown? */
export function mayBeActedOn(check: CheckName): boolean {
  const { ground } = definitionOf(check).worth;
  if (ground.by !== 'measured') return ground.by === 'record';
  return ground.measured.untouched && ground.measured.precision >= precisionMin;
}

export function groundOf(check: CheckName): Ground {
  return definitionOf(check).worth.ground;
}

export function verdictOn(check: CheckName, ending: Ending): Verdict {
  return ending === 'human-denied' ? 'wrong' : (definitionOf(check).worth.verdicts[ending] ?? 'unclear');
}

export function rightWhen(check: CheckName): string {
  return definitionOf(check).worth.right;
}
