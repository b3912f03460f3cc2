/** A share with its 95 % Wilson interval: honest also for few cases and for shares near 0 and 1. */
export function wilson(hits: number, n: number): [number, number] | null {
  if (n === 0) return null;
  const z = 1.96;
  const share = hits / n;
  const middle = share + (z * z) / (2 * n);
  const spread = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return [round(Math.max(0, (middle - spread) / scale)), round(Math.min(1, (middle + spread) / scale))];
}

export function ratio(hits: number, n: number): number | null {
  return n === 0 ? null : round(hits / n);
}

/** Precision counts twice as much as recall: a watchdog that cries wolf is turned off. */
export function fHalf(tp: number, fp: number, fn: number): number | null {
  const bottom = 1.25 * tp + 0.25 * fn + fp;
  return bottom === 0 ? null : round((1.25 * tp) / bottom);
}

export function median(values: number[]): number | null {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1] ?? 0, sorted[middle] ?? 0];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

export function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** The same order every time. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const order = [...items];
  let state = seed;
  for (let index = order.length - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (index + 1);
    [order[index], order[other]] = [order[other] as T, order[index] as T];
  }
  return order;
}
