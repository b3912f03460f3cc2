/**
 * The mark of what we type, by which the client's own record says later who began a turn. It says itself whether the
 * agent was asked for something beside its work (`wk-n…`): to read that from the record nobody has to remember anything.
 */
export function tagOf(hex: string, isAside: boolean): string {
  return `wk-${isAside ? 'n' : ''}${hex}`;
}

/** All that was said to it was beside its work. */
export function areAsides(tags: readonly string[]): boolean {
  return tags.length > 0 && tags.every((tag) => tag.startsWith('wk-n'));
}
