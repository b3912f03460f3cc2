// package-lock.json has to serve every platform and every registry mirror: no addresses, and an entry for every
// optional package. npm drops those a mirror does not offer, and then `npm ci` refuses the file. `--mend` puts them back.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const file = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));

function nearestEntry(from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[place] !== undefined) return lock.packages[place];
    if (folder === '') return null;
  }
}

function missingOptionals() {
  return Object.entries(lock.packages).flatMap(([from, { optionalDependencies, dev }]) =>
    Object.entries(optionalDependencies ?? {})
      .filter(([name]) => nearestEntry(from, name) === null)
      .map(([name, version]) => ({ name, version, dev: dev === true })),
  );
}

/** Platform packages say in their name what npm would read in their manifest. */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = ['linux', 'darwin', 'win32', 'android', 'freebsd', 'openharmony'].filter((word) => words.includes(word));
  const cpu = ['x64', 'arm64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'wasm32'].filter((word) =>
    words.includes(word),
  );
  const libc = words.includes('musl') || words.includes('musleabihf') ? ['musl'] : ['glibc'];
  return { cpu, ...(os.length > 0 ? { os } : {}), ...(os[0] === 'linux' ? { libc } : {}) };
}

function mend() {
  for (const { name, version, dev } of missingOptionals()) {
    const platform = platformOf(name);
    if (!/^\d/.test(version) || platform.cpu.length === 0) continue;
    lock.packages[`node_modules/${name}`] = { version, ...platform, ...(dev ? { dev } : {}), optional: true };
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

if (process.argv.includes('--mend')) mend();
const problems = [
  ...Object.entries(lock.packages)
    .filter(([, entry]) => entry.resolved !== undefined)
    .map(([place]) => `${place} names an address: install with this project's .npmrc`),
  ...missingOptionals().map(({ name }) => `${name} is missing: node scripts/check-lock.mjs --mend`),
];
for (const problem of problems) process.stderr.write(`package-lock.json: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
