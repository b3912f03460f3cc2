/**
 * The names of all checks. Each puts its own in from its own file (`declare module`), so that a check is one file and its name
 * is known wherever findings go.
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: every check adds to it.
export interface CheckNames {}

export type CheckName = keyof CheckNames;
