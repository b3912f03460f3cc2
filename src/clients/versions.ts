/** Versions of clients, such as 2.1.325. */

/** Those that are no versions are left out; null: there is none. */
export function oldestOf(versions: readonly string[]): string | null {
  const known = versions.flatMap((version) => {
    const numbers = numbersOf(version);
    return numbers === null ? [] : [{ version, numbers }];
  });
  return known.toSorted((a, b) => compare(a.numbers, b.numbers))[0]?.version ?? null;
}

export function numbersOf(version: string): number[] | null {
  const found = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})/.exec(version);
  return found === null ? null : found.slice(1).map(Number);
}

export function compare(a: readonly number[], b: readonly number[]): number {
  const different = a.findIndex((number, index) => number !== b[index]);
  return different === -1 ? 0 : (a[different] ?? 0) - (b[different] ?? 0);
}
