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

/**
 * By these something is known again or decided: whatever is in them, `[redacted]` would be a lie. The command refuses what is
 * part of such a name or word; these are for those that come later.
 */
const ours = new Set(
  `id agent project host name client authority socket session pane bootId startTicks sessionId oldSession newSession state
   detail source kind check subject severity status type trigger finding outcome ending step recipe nonce sha256 incident
   actionId taskId`.split(/\s+/),
);
/** And of these what the row says in its own JSON, which is full of others' texts. */
const free = new Set(['data', 'details', 'intent', 'proof']);
const oursInFree = new Set('id kind check deed finding findings handoff tag tags channels'.split(' '));

/** In the texts of a document of any depth; the names, kinds and ids in it stay, and so does what is no document. */
export function withoutForgotten<T>(value: T): T {
  return forgotten.length === 0 || !isPlain(value) ? value : (cleaned(value, ours) as T);
}

function cleaned(value: unknown, kept: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return forgotten.reduce((text, form) => text.replaceAll(form, mark), value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, kept));
  if (!isPlain(value)) return value;
  const member = ([key, item]: [string, unknown]) => [
    key,
    kept.has(key) && isName(item) ? item : cleaned(item, free.has(key) ? oursInFree : kept),
  ];
  return Object.fromEntries(Object.entries(value).map(member));
}

function isPlain(value: unknown): value is object {
  return value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
}
