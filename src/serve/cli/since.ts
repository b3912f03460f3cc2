const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** "7d", "12h", "30m" before now, or a date, on the reader's clock like every time we print; NaN: neither. */
export function sinceOf(text: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,6}(?:\.\d+)?)([mhdw])$/.exec(text.trim()) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * (units[unit] ?? 0);
  const [date] = /^\d{4}-\d\d-\d\d/.exec(text.trim()) ?? [];
  if (date === undefined) return Number.NaN;
  // By itself a date would be one of Greenwich.
  return Date.parse(date === text.trim() ? `${date}T00:00` : text.trim());
}
