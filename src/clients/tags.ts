const tagsMax = 50;

/** The marks of prompts that Watchkeeper typed. Several queued prompts may be one message. */
export function tagsIn(text: string): string[] {
  return [...text.matchAll(/\[(wk-n?[0-9a-f]{4})\]/g)].slice(0, tagsMax).map((match) => match[1] ?? '');
}
