/** All that a program started here inherits: never our own environment, which may hold keys. */
export function emptyEnvironment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: home };
}
