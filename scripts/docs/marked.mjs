// Parts of a Markdown file that are written by a program stand between two comments:
//   <!-- generated: NAME -->  or  <!-- transcript: NAME -->  …  <!-- end -->
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

const part = /<!-- (generated|transcript): ([\w-]+) -->\n([\s\S]*?)<!-- end -->/g;

/** What users read: the README and the manual. */
export function pages() {
  const manual = readdirSync(path.join(root, 'docs/manual')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...manual.sort().map((name) => `docs/manual/${name}`)];
}

export function readPage(page) {
  return readFileSync(path.join(root, page), 'utf8');
}

/** The written parts of a text, each with its kind (`generated` or `transcript`), name and text. */
export function partsOf(text) {
  return [...text.matchAll(part)].map(([, kind, name, inside]) => ({ kind, name, inside }));
}

/** The text with the parts of one kind replaced by what `write` returns for their name. */
export function withParts(text, kind, write) {
  return text.replace(part, (whole, found, name, inside) =>
    found === kind ? `<!-- ${kind}: ${name} -->\n${write(name, inside)}<!-- end -->` : whole,
  );
}

/** The text without any written part. */
export function ownText(text) {
  return text.replace(part, '');
}
