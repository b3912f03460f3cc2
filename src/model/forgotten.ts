/**
 * Secrets that somebody had taken out while the daemon runs. What an agent's own files still say of them must not come
 * back into the tables, so they are taken out of whatever is stored from then on. Known to the process only.
 */
const forgotten: string[] = [];
const forgottenMax = 200;
const mark = '[redacted]';

export function forget(forms: readonly string[]): void {
  forgotten.push(...forms.filter((form) => !forgotten.includes(form)));
  // Longest first: one may be part of another.
  forgotten.sort((a, b) => b.length - a.length);
  forgotten.splice(forgottenMax);
}

/** In texts, lists and documents of any depth. */
export function withoutForgotten<T>(value: T): T {
  return forgotten.length === 0 ? value : (cleaned(value) as T);
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return forgotten.reduce((text, form) => text.replaceAll(form, mark), value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cleaned(item)]));
}
