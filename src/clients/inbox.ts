// What every client's hooks have in common: where they leave their events, and how they are asked for an answer.

/** More files than this in the inbox mean that nobody reads it: what comes then is dropped. */
export const inboxFilesMax = 20_000;

/** What a hook script runs to read a request. Nothing of the agent's environment reaches Node, which obeys some of it. */
export function answerScript(node: string, program: string, dataDir: string): string {
  return `exec /usr/bin/env -i ${[node, program, dataDir].map(quoted).join(' ')}\n`;
}

/** One word of a command line for sh. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
