// Holds src/ to the import directions of ARCHITECTURE.md. Names file and line, the rule, and what to do instead.
// Tests are free: they may read recordings and reach across folders.
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Which other folders a folder may import; its own files always. */
const mayImport = {
  model: [],
  clients: ['model'],
  sense: ['model', 'clients'],
  detect: ['model', 'clients'],
  act: ['model', 'clients'],
  record: ['model', 'clients'],
  decide: ['model', 'clients', 'detect'],
  run: ['model', 'clients', 'sense', 'detect', 'decide', 'act', 'record'],
  serve: ['model', 'run'],
};

const instead = {
  model: 'put the type it needs into src/model, or take the value as an argument',
  clients: 'put the shared type into src/model; sense and act do the reading and the typing',
  sense: 'put the shared type into src/model; run brings sense and the others together',
  detect: 'take the value as an argument; run passes it in',
  act: 'put the shared type into src/model; run brings act and the others together',
  record: 'put the shared type into src/model; run brings record and the others together',
  decide: 'take the value as an argument; run passes it in',
  run: 'let serve pass it in as an argument',
  serve: 'ask a function of src/run for it',
};

/** Same arguments, same answer: these folders see the world only through what run hands them. */
const pure = ['model', 'detect', 'decide'];
const builtinsOfThePure = ['node:path', 'node:util'];
const worldlyPackages = ['pg'];
const pureRule = 'is pure and touches no clock, file, process or database';
const pureInstead = 'take the value as an argument; sense or record reads it and run passes it in';

function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.[cm]?ts$/.test(entry.name) && !/\.test\.ts$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

const importForms = [
  /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^[ \t]*import\s*['"]([^'"]+)['"]/gm,
  /\b(?:import|require)\s*\(\s*['"`]([^'"`]+)['"`]/g,
];

/** Every import, with the line its name stands on. */
function importsOf(text) {
  return importForms
    .flatMap((form) => [...text.matchAll(form)])
    .map((match) => ({ name: match[1], at: match.index + match[0].lastIndexOf(match[1]) }))
    .sort((a, b) => a.at - b.at)
    .map(({ name, at }) => ({ name, line: text.slice(0, at).split('\n').length }));
}

/** null: allowed. */
function forbidden(src, file, name) {
  const [folder] = path.relative(src, file).split(path.sep);
  const allowed = mayImport[folder];
  if (allowed === undefined) {
    return { rule: `src/${folder} has no rule`, instead: 'use a folder of ARCHITECTURE.md, or add the new one here' };
  }
  if (!name.startsWith('.')) {
    const builtin = isBuiltin(name);
    const worldly = builtin
      ? !builtinsOfThePure.includes(`node:${name.replace(/^node:/, '')}`)
      : worldlyPackages.includes(name.split('/')[0]);
    return pure.includes(folder) && worldly ? { rule: `${folder} ${pureRule}`, instead: pureInstead } : null;
  }
  const target = path.relative(src, path.resolve(path.dirname(file), name));
  if (target.startsWith('..'))
    return { rule: 'src imports nothing outside of itself', instead: 'move it into src, or read it at run time' };
  const [to] = target.split(path.sep);
  if (to === folder || allowed.includes(to)) return null;
  const list = allowed.length === 0 ? 'nothing' : `only ${allowed.join(', ')}`;
  return { rule: `${folder} imports ${list}`, instead: instead[folder] };
}

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const src = path.resolve(process.argv[2] ?? path.join(root, 'src'));
const files = sourceFiles(src);
const problems = files.flatMap((file) =>
  importsOf(readFileSync(file, 'utf8')).flatMap(({ name, line }) => {
    const found = forbidden(src, file, name);
    const place = path.join('src', path.relative(src, file));
    return found === null ? [] : [`${place}:${line}: imports '${name}', but ${found.rule}; ${found.instead}`];
  }),
);
// A check that looked at nothing must not pass.
if (files.length === 0) problems.push(`no source file in ${src}`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
