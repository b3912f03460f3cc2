import { InvalidArgumentError } from 'commander';

const secondsMax = 86_400;

/** What follows `--wait`. */
export function seconds(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0 || number > secondsMax)
    throw new InvalidArgumentError(`seconds from 0 to ${secondsMax}`);
  return number;
}
