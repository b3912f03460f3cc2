const parts = ['Goal', 'State', 'Decisions', 'Next step', 'Open files', 'Background work', 'How to verify'];

/** One that holds all it must. */
export function goodDocument(nonce: string): string {
  const filled = parts.map((name) => `## ${name}\nWhat there is to say about it, in a line.\n`);
  return [...filled, '## Git HEAD\nnone\n', `## Nonce\n${nonce}\n`].join('\n');
}
