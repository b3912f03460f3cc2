import type { CheckName } from '../model/check.ts';
import type { Check, CheckDefinition, LoopCheck, TrendCheck } from './check.ts';
import * as all from './checks/all.ts';
import type { Threshold, Values } from './thresholds.ts';

type Known = (typeof all)[keyof typeof all];
type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;
/** `stall.toolMinutes` and all the others, by their keys in the configuration. */
export type ThresholdKey = keyof Intersection<Known['thresholds']> & string;

/** All checks, in the order of their names. */
export const checks: readonly Check[] = Object.values<Check>(all).sort((a, b) => (a.name < b.name ? -1 : 1));

/** A name without a definition does not compile. */
const byName: Readonly<Record<CheckName, CheckDefinition>> = Object.fromEntries(
  checks.map((check) => [check.name, check]),
) as unknown as { [K in Known['name']]: CheckDefinition };

export const checkNames: readonly CheckName[] = checks.map(({ name }) => name);

export function definitionOf(name: CheckName): CheckDefinition {
  return byName[name];
}

/** A name that somebody else wrote; null: there is no such check. */
export function checkCalled(name: string): CheckName | null {
  return Object.hasOwn(byName, name) ? (name as CheckName) : null;
}

export const loopChecks: readonly LoopCheck[] = checks.filter((check) => check.by === 'steps');
export const trendChecks: readonly TrendCheck[] = checks.filter((check) => check.by === 'past');

export const thresholds = Object.assign({}, ...checks.map((check) => check.thresholds)) as Readonly<
  Record<ThresholdKey, Threshold>
>;

/** Of some configuration, or of a part of one: whatever it does not set is as by default. */
export function valuesOf(config: object = {}): Values {
  const at = (key: string) =>
    key.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)?.[part], config);
  return Object.fromEntries(
    Object.entries<Threshold>(thresholds).map(([key, { byDefault }]) => [
      key,
      (at(key) as number | undefined) ?? byDefault,
    ]),
  );
}
