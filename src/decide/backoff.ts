import { digest } from '../model/digest.ts';

const jitterShare = 0.5;

/**
 * How long a request that was refused for its rate is left alone before it is tried for the n-th time, from 0: twice as
 * long each time. Agents of one account are refused together, so each waits up to half as long again, always the same
 * for the same trouble: a restart must not decide otherwise.
 */
export function backoffMs(firstMs: number, tries: number, trouble: string): number {
  return Math.round(firstMs * 2 ** tries * (1 + jitterShare * fractionOf(trouble)));
}

/** From 0 up to 1, as good as random and the same every time. */
function fractionOf(text: string): number {
  const letters = digest(text).slice(0, 4);
  return [...letters].reduce((sum, letter) => sum * 16 + letter.charCodeAt(0) - 'a'.charCodeAt(0), 0) / 16 ** 4;
}
