// The transcripts in README and manual are what the program prints. `npm run docs -- --transcripts` writes them anew, where more
// has changed than `steady-text.ts` allows for.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pages, partsOf, readPage, root, withParts } from '../../scripts/docs/marked.mjs';
import { scenario } from './scenario.ts';
import { steadyLines } from './steady-text.ts';
import { transcripts } from './transcript-run.ts';

const isWriting = process.env.WRITE_TRANSCRIPTS !== undefined;

interface Shown {
  page: string;
  name: string;
  inside: string;
}

function shownTranscripts(): Shown[] {
  return pages().flatMap((page) =>
    partsOf(readPage(page))
      .filter(({ kind }) => kind === 'transcript')
      .map(({ name, inside }) => ({ page, name, inside })),
  );
}

function block(text: string): string {
  return `\`\`\`console\n${text.trimEnd()}\n\`\`\`\n`;
}

/** Of `up` it is left open which of two agents is heard first. */
function comparable(name: string, text: string): string[] {
  const lines = steadyLines(text);
  return name === 'up' ? lines.sort() : lines;
}

function isSame(name: string, one: string, other: string): boolean {
  return JSON.stringify(comparable(name, one)) === JSON.stringify(comparable(name, other));
}

/** A transcript that still holds stays as it is. */
function write(texts: Map<string, string>): void {
  for (const page of pages()) {
    const renewed = withParts(readPage(page), 'transcript', (name: string, inside: string) => {
      const now = block(texts.get(name) ?? `nothing is recorded as ${name}`);
      return isSame(name, inside, now) ? inside : now;
    });
    writeFileSync(path.join(root, page), renewed);
  }
}

test(
  'the transcripts in README and manual are what the program prints',
  scenario(async (s) => {
    const texts = await transcripts(s);
    if (isWriting) write(texts);
    const shown = shownTranscripts();
    const lines = (text: (one: Shown) => string) =>
      shown.map((one) => [`${one.page}: ${one.name}`, ...comparable(one.name, text(one))]);
    expect(
      lines(({ inside }) => inside),
      'write them anew: npm run docs -- --transcripts',
    ).toEqual(lines(({ name }) => block(texts.get(name) ?? '')));
    expect([...new Set(shown.map(({ name }) => name))].sort()).toEqual([...texts.keys()].sort());
  }),
);
