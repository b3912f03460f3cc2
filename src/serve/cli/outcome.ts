/** Exit codes others script against. */
export const exit = {
  ok: 0,
  no: 1,
  usage: 2,
  noDaemon: 3,
  notFound: 4,
  noDatabase: 5,
  timeout: 6,
  uncertain: 7,
} as const;

/** In words, by number. */
export const exitMeanings: Readonly<Record<(typeof exit)[keyof typeof exit], string>> = {
  [exit.ok]: 'yes, or done',
  [exit.no]: 'no: refused, not accepted, something unhealthy found',
  [exit.usage]: 'wrong usage or configuration',
  [exit.noDaemon]: 'no daemon runs',
  [exit.notFound]: 'no such agent, or whatever was named',
  [exit.noDatabase]: 'the database cannot be reached',
  [exit.timeout]: 'timed out, or not yet',
  [exit.uncertain]: 'nobody knows: it may be done all the same',
};

/** Ends a command with one line on stderr: what went wrong, and the way out. */
export class CommandFailure extends Error {
  readonly code: number;
  readonly wayOut: string | null;

  constructor(code: number, message: string, wayOut: string | null = null) {
    super(message);
    this.code = code;
    this.wayOut = wayOut;
  }
}
