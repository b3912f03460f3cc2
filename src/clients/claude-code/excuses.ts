import type { Excuses } from '../signs.ts';

export const excuses: Excuses = {
  rejected:
    /^(The user doesn't want to (proceed|take this action)|\[Request interrupted by user|Permission to use \S+ (with|has been))/,
  sibling: /^(<tool_use_error>)?Sibling tool call errored/,
};
