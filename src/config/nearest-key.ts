const keyCharsMax = 64;

/** The allowed key a mistyped one most likely means, or null. */
export function nearestKey(unknown: string, allowed: readonly string[]): string | null {
  if (unknown.length > keyCharsMax) return null;
  const wanted = bare(unknown);
  let best: { key: string; distance: number } | null = null;
  for (const key of allowed) {
    const candidate = bare(key);
    // `minInterval` for `minIntervalMinutes`: the unit left out is the likeliest slip.
    const begins = wanted.length >= 3 && (candidate.startsWith(wanted) || wanted.startsWith(candidate));
    const distance = begins ? 1 : editDistance(wanted, candidate);
    if (distance <= Math.max(1, Math.floor(candidate.length / 3)) && (best === null || distance < best.distance)) {
      best = { key, distance };
    }
  }
  return best?.key ?? null;
}

function bare(key: string): string {
  return key.replace(/[-_\s]/g, '').toLowerCase();
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      row.push(Math.min((previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1, (previous[j] ?? 0) + (a[i] === b[j] ? 0 : 1)));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
