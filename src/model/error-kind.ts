/** What kind of error ended a turn, whatever its client calls it. */
const kinds = [
  'rate_limit',
  'overloaded',
  'server_error',
  /** The login, the account or the credential is not accepted. */
  'authentication_failed',
  'billing_error',
  'model_not_found',
  'context_window_exceeded',
  'max_output_tokens',
  'invalid_request',
  'unknown',
] as const;

export type ErrorKind = (typeof kinds)[number];

export function isErrorKind(word: string): word is ErrorKind {
  return kinds.some((kind) => kind === word);
}

/** By a client's word for it: `others` has those that are not the shared ones. */
export function errorKindOf(word: string, others: Readonly<Record<string, ErrorKind>> = {}): ErrorKind {
  return kinds.find((kind) => kind === word) ?? (Object.hasOwn(others, word) ? (others[word] ?? 'unknown') : 'unknown');
}
