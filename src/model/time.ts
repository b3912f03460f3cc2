/** As documents and rows have a time. */
export function time(ms: number): string;
export function time(ms: number | null): string | null;
export function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
