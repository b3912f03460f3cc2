// Holds src/ to the import directions of ARCHITECTURE.md, and the words of each client to its folder. Names file and line, the
// rule, and what to do instead.
// Tests are free: they may read recordings and reach across folders.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Which other rooms a room may import; its own files always. Each names only rooms above it, so that there is no ring:
 * what has to go back goes through the board or the ledger.
 */
const mayImport = {
  model: [],
  clients: ['model'],
  sense: ['model', 'clients'],
  detect: ['model', 'clients'],
  act: ['model', 'clients'],
  record: ['model', 'clients', 'detect', 'act'],
  decide: ['model', 'clients', 'detect'],
  home: ['model', 'act', 'record'],
  config: ['model', 'clients', 'detect', 'decide', 'act', 'home'],
  rows: ['model', 'sense', 'detect', 'record', 'decide', 'home'],
  findings: ['model', 'detect', 'decide', 'record', 'home', 'config'],
  watch: ['model', 'clients', 'sense', 'detect', 'decide', 'home', 'config', 'findings'],
  spawns: ['model', 'sense', 'detect', 'record', 'home', 'config', 'findings'],
  actions: ['model', 'clients', 'sense', 'decide', 'act', 'record', 'home', 'config', 'findings', 'watch'],
  handoff: ['model', 'sense', 'detect', 'decide', 'act', 'record', 'home', 'config', 'findings', 'watch', 'actions'],
  rules: ['model', 'detect', 'decide', 'config', 'findings', 'actions'],
  replay: ['model', 'clients', 'detect', 'config', 'watch'],
  eval: ['model', 'detect', 'config', 'replay'],
  setup: ['model', 'clients', 'sense', 'act', 'home', 'config', 'handoff'],
  daemon: [
    ...['model', 'clients', 'sense', 'detect', 'decide', 'act', 'record', 'home', 'config', 'rows', 'findings'],
    ...['watch', 'spawns', 'actions', 'handoff', 'rules', 'setup'],
  ],
  conform: ['model', 'clients', 'home', 'watch', 'daemon'],
  serve: [
    ...['model', 'clients', 'home', 'config', 'rows', 'watch', 'spawns', 'actions', 'handoff', 'findings', 'replay'],
    ...['eval', 'setup', 'daemon', 'conform'],
  ],
};

const upward = 'hand the value in as an argument, or let the room below read it: a later room reads an earlier one';
const instead = {
  model: 'put the type it needs into src/model, or take the value as an argument',
  clients: 'put the shared type into src/model; sense and act do the reading and the typing',
  sense: 'put the shared type into src/model; watch brings sense and the others together',
  detect: 'take the value as an argument; watch passes it in',
  act: 'put the shared type into src/model; actions brings act and the others together',
  record: 'put the shared type into src/model; rows and daemon bring record and the others together',
  decide: 'take the value as an argument; findings, handoff and actions pass it in',
  serve: 'ask a function of the room that does it',
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
    .map((match) => ({
      name: match[1],
      at: match.index + match[0].lastIndexOf(match[1]),
      later: /^import\s*\(/.test(match[0]),
    }))
    .sort((a, b) => a.at - b.at)
    .map(({ name, at, later }) => ({ name, line: text.slice(0, at).split('\n').length, later }));
}

/** A client's part of `conform` lies in the client's folder, and is of that room. */
function roomOf(file) {
  const [folder, client, part] = file.split(path.sep);
  return folder === 'clients' && client !== undefined && part === 'conform' ? 'conform' : folder;
}

/** null: allowed. */
function forbidden(src, file, { name, later }) {
  const folder = roomOf(path.relative(src, file));
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
  const to = roomOf(target);
  // A client names its part of `conform`, for whoever is there to load it.
  const isOwnPart =
    later && to === 'conform' && path.dirname(target) === path.join(path.dirname(path.relative(src, file)), 'conform');
  if (to === folder || allowed.includes(to) || isOwnPart) return null;
  const list = allowed.length === 0 ? 'nothing' : `only ${allowed.join(', ')}`;
  return { rule: `${folder} imports ${list}`, instead: instead[folder] ?? upward };
}

/** Where the list of clients is, one line each. */
const listOfClients = path.join('clients', 'all.ts');
/** What may stand elsewhere all the same, and why. */
const alsoElsewhere = {
  [path.join('model', 'secret-names.ts')]: 'names of services whose secrets are taken out, whoever uses them',
};

/** By client: its name, other names of its (in whatever case), and words that nobody else uses, from its `words.json`. */
function wordsOfClients(src) {
  const clients = path.join(src, 'clients');
  if (!existsSync(clients)) return [];
  const folders = readdirSync(clients, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => {
    const file = path.join(clients, name, 'words.json');
    const { names, words } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { names: [], words: [] };
    const any = (list) => list.map((word) => word.replace(/[^\p{L}\p{N}_ ]/gu, '\\$&')).join('|');
    const named = new RegExp(`(?<![a-z0-9])(?:${any([name, ...names])})`, 'i');
    // A path may end like a command.
    const said = words.length === 0 ? null : new RegExp(`(?<![\\w.-])(?:${any(words)})(?![a-zA-Z0-9])`);
    return { client: name, named, said };
  });
}

/** Lines that name a client, or say a word of it, outside its folder. */
function namings(src, file, text, clients) {
  const place = path.relative(src, file);
  if (place === listOfClients || place in alsoElsewhere) return [];
  const others = clients.filter(({ client }) => !place.startsWith(path.join('clients', client) + path.sep));
  return text.split('\n').flatMap((line, at) =>
    others.flatMap(({ client, named, said }) => {
      const word = (named.exec(line) ?? said?.exec(line))?.[0];
      if (word === undefined) return [];
      const what = `src/${place}:${at + 1}: says '${word}', a word of ${client}`;
      return [`${what}; only src/clients/${client} may: make it a capability of \`AgentClient\``];
    }),
  );
}

/** Rooms that would reach themselves by the table above. */
function rings() {
  const below = (room, seen = new Set()) => {
    for (const next of mayImport[room]) {
      if (seen.has(next)) continue;
      seen.add(next);
      below(next, seen);
    }
    return seen;
  };
  return Object.keys(mayImport)
    .filter((room) => below(room).has(room))
    .map((room) => `scripts/check-imports.mjs: ${room} reaches itself by what it may import: take a step out`);
}

/** The members of each class, as the formatter lays them out: one begins at the third column, with all that is indented below it. */
function classesOf(text) {
  return [...text.matchAll(/^(?:export )?(?:abstract )?class [^\n]*\{\n([\s\S]*?)^\}$/gm)].map((found) => {
    const start = found.index + found[0].indexOf('{\n') + 2;
    const heads = [...found[1].matchAll(memberForm)];
    return heads.map(({ 1: name, 2: sign, index }, n) => {
      const body = found[1].slice(index, heads[n + 1]?.index);
      const isCalled = sign === '(' || / = (?:async )?\([^\n]*=>/.test(body);
      return { name, at: start + index, body, isCalled };
    });
  });
}
const memberForm = /^ {2}(?:(?:readonly|override|async|static|get|set) )*\*?(#?\w+)(?:<[^(\n]*>)?[!?]?([(:;]| =)/gm;

const usesIn = (body) => [...body.matchAll(/\bthis\.(#?\w+)/g)].map(({ 1: name, index }) => ({ name, index }));

/**
 * While the parts of a class are made nothing names a part that is made after it, be it through a method of its own: such a lambda
 * is a ring that no import shows. What goes back goes as a value, or through the board.
 */
function forwardUses(text) {
  return classesOf(text).flatMap((members) => {
    const making = members.filter(({ name, isCalled }) => name === 'constructor' || !isCalled);
    const made = new Map();
    for (const { name, at, body } of making) {
      if (name !== 'constructor' && body.includes(' = ')) made.set(name, at);
      for (const [, part] of name === 'constructor' ? body.matchAll(/^ {4}this\.(#?\w+) = /gm) : [])
        if (!made.has(part)) made.set(part, at + body.indexOf(`this.${part} = `));
    }
    const methods = new Map(members.filter(({ isCalled }) => isCalled).map(({ name, body }) => [name, body]));
    /** What is used by whoever calls it. */
    const below = (name, seen = new Set()) => {
      if (seen.has(name)) return seen;
      seen.add(name);
      for (const used of usesIn(methods.get(name) ?? '')) below(used.name, seen);
      return seen;
    };
    return making.flatMap(({ at, body }) =>
      usesIn(body).flatMap(({ name, index }) =>
        [...below(name)]
          .filter((used) => (made.get(used) ?? -1) > at + index)
          .map((used) => ({
            name: used === name ? name : `${used} by ${name}`,
            line: text.slice(0, at + index).split('\n').length,
          })),
      ),
    );
  });
}

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const src = path.resolve(process.argv[2] ?? path.join(root, 'src'));
const files = sourceFiles(src);
const found = files.flatMap((file) =>
  importsOf(readFileSync(file, 'utf8')).flatMap((each) => {
    const broken = forbidden(src, file, each);
    const place = `${path.join('src', path.relative(src, file))}:${each.line}`;
    return broken === null ? [] : [`${place}: imports '${each.name}', but ${broken.rule}; ${broken.instead}`];
  }),
);
const ahead = files.flatMap((file) =>
  forwardUses(readFileSync(file, 'utf8')).map(
    ({ name, line }) =>
      `${path.join('src', path.relative(src, file))}:${line}: names ${name}, which is made after it; make it first, or hand the value back`,
  ),
);
const clients = wordsOfClients(src);
const named = files.flatMap((file) => namings(src, file, readFileSync(file, 'utf8'), clients));
const problems = [...found, ...named, ...rings(), ...ahead];
// A check that looked at nothing must not pass.
if (files.length === 0) problems.push(`no source file in ${src}`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
