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
