/** Errors are values across folder borders; an exception is a bug. */
export type Result<T, R extends string = string> =
  | { ok: true; value: T }
  | { ok: false; reason: R; message: string; fix?: string };

export function ok<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

export function fail<R extends string>(
  reason: R,
  message: string,
  fix?: string,
): { ok: false; reason: R; message: string; fix?: string } {
  return fix === undefined ? { ok: false, reason, message } : { ok: false, reason, message, fix };
}
