/** From when on a check speaks: one value of the configuration, by its key there, such as `stall.toolMinutes`. */
export interface Threshold {
  readonly unit: 'minutes' | 'percent' | 'factor' | 'count' | 'tokens';
  readonly byDefault: number;
  /** One sentence, for whoever sets it. */
  readonly says: string;
}

export type Thresholds = Readonly<Record<string, Threshold>>;

/** Thresholds as they are set, by their keys and in the unit of each. */
export type Values = Readonly<Record<string, number>>;

/** Those of one check. */
export type Own<T extends Thresholds> = { readonly [K in keyof T]: number };

const of =
  (unit: Threshold['unit']) =>
  (byDefault: number, says: string): Threshold => ({ unit, byDefault, says });

export const minutes = of('minutes');
export const percent = of('percent');
export const factor = of('factor');
export const count = of('count');
export const tokens = of('tokens');

export const minuteMs = 60_000;
