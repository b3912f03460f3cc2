// `npm run docs`: writes the parts of README, manual and schema that list what the code has; see docs/parts.mjs.
//   --check        writes nothing; says what is out of date, and which links lead nowhere
//   --transcripts  also runs the scenario on the real client and writes the transcripts; see test/clients/transcripts.test.ts
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brokenLinks } from './docs/links.mjs';
import { ownText, pages, partsOf, readPage, root, withParts } from './docs/marked.mjs';
import { files, parts, unknownCommands } from './docs/parts.mjs';

const known = ['--check', '--transcripts'];
const flags = process.argv.slice(2);

/** Every file that holds something generated, as it should be. */
function wanted() {
  const whole = Object.entries(files).map(([file, text]) => [file, text()]);
  const marked = pages().map((page) => [page, withParts(readPage(page), 'generated', partText)]);
  return [...whole, ...marked];
}

function partText(name) {
  if (!Object.hasOwn(parts, name))
    throw new Error(`no part is called ${name}; there are ${Object.keys(parts).join(', ')}`);
  return parts[name]();
}

/** What no program can put right. */
function problems() {
  const texts = pages().map((page) => [page, readPage(page)]);
  const used = texts.flatMap(([, text]) => partsOf(text).map(({ name }) => name));
  return [
    ...Object.keys(parts)
      .filter((name) => !used.includes(name))
      .map((name) => `nothing shows the generated part ${name}`),
    ...texts
      .filter(([, text]) => ownText(text).includes('```console'))
      .map(([page]) => `${page}: a console block outside of a transcript, so nobody checks it`),
    ...texts.flatMap(([page, text]) => unknownCommands(text).map((line) => `${page}: there is no watchkeeper ${line}`)),
    ...pages().flatMap(brokenLinks),
  ];
}

function checkAll() {
  const stale = wanted().filter(([file, text]) => readFileSync(path.join(root, file), 'utf8') !== text);
  const wrong = [...stale.map(([file]) => `${file} is out of date: npm run docs`), ...problems()];
  for (const line of wrong) process.stderr.write(`docs: ${line}\n`);
  return wrong.length === 0 ? 0 : 1;
}

function writeTranscripts() {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const words = [vitest, 'run', '--project', 'clients', 'test/clients/transcripts.test.ts'];
  const env = { ...process.env, WRITE_TRANSCRIPTS: '1' };
  return spawnSync(process.execPath, words, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
}

function main() {
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) {
    process.stderr.write(`docs: unknown option ${unknown}; there are ${known.join(', ')}\n`);
    return 2;
  }
  if (flags.includes('--check')) return checkAll();
  for (const [file, text] of wanted()) writeFileSync(path.join(root, file), text);
  return flags.includes('--transcripts') ? writeTranscripts() : 0;
}

process.exitCode = main();
