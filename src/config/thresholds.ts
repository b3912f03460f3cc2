import type { z } from 'zod';
import { type ThresholdKey, thresholds } from '../detect/checks.ts';
import type { Threshold } from '../detect/thresholds.ts';
import { amount, countFrom, factor, minutesMax, percent } from './fields.ts';

type KeysIn<Section extends string> = ThresholdKey extends infer K
  ? K extends `${Section}.${infer Name}`
    ? Name
    : never
  : never;

const tokensMax = 100_000_000;

function field({ unit, byDefault, says }: Threshold) {
  return numberOf(unit).default(byDefault).describe(says);
}

function numberOf(unit: Threshold['unit']): z.ZodNumber {
  switch (unit) {
    case 'minutes':
      return amount(minutesMax);
    case 'percent':
      return percent();
    case 'factor':
      return factor();
    case 'count':
      return countFrom(2);
    case 'tokens':
      return amount(tokensMax);
  }
}

/** The thresholds of all checks that are set in this section, as each check has them. */
export function thresholdFields<Section extends string>(section: Section) {
  return Object.fromEntries(named(section).map(([name, one]) => [name, field(one)])) as Record<
    KeysIn<Section>,
    ReturnType<typeof field>
  >;
}

/** The same for each. */
export function forKeys<Key extends string, T>(keys: readonly Key[], value: T) {
  return Object.fromEntries(keys.map((key) => [key, value])) as Record<Key, T>;
}

/** By their whole keys, the same for each. */
export function forThresholds<Section extends string, T>(section: Section, value: T) {
  return forKeys(
    named(section).map(([name]) => `${section}.${name}` as `${Section}.${KeysIn<Section>}`),
    value,
  );
}

function named(section: string): [name: string, threshold: Threshold][] {
  return Object.entries<Threshold>(thresholds)
    .filter(([key]) => key.startsWith(`${section}.`))
    .map(([key, one]) => [key.slice(section.length + 1), one]);
}
