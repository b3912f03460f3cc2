// Links within the pages: each has to lead to a file that is there, and from what is published only to what is published too.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readPage, root } from './marked.mjs';

const { files: published } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

function isPublished(file) {
  return file === 'package.json' || published.some((one) => file === one || file.startsWith(`${one}/`));
}

/** As the usual viewers make it: "Where it is kept" → "where-it-is-kept". */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function anchorsOf(file) {
  const headings = readFileSync(path.join(root, file), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) => anchorOf(heading));
}

/** What is wrong with the links of a page, one line each. */
export function brokenLinks(page) {
  const text = readPage(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
    if (/^https?:/.test(link)) return [];
    const [to = '', anchor] = link.split('#');
    const file = to === '' ? page : path.normalize(path.join(path.dirname(page), to));
    if (!existsSync(path.join(root, file))) return [`${page}: ${link} leads nowhere`];
    if (isPublished(page) && !isPublished(file)) return [`${page}: ${link} is not in the package, but the page is`];
    if (anchor !== undefined && !anchorsOf(file).includes(anchor)) return [`${page}: ${link} names no heading there`];
    return [];
  });
}
