// Installs the real Claude Code the scenarios run against, pinned, into .clients/ (ignored by git); or another version,
// named as argument, beside it, and prints where its program is.
// Installed beside and renamed into place, so that two runs at once, or one cut short, leave no half-written client.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const pinned = '2.1.325';
const version = process.argv[2] ?? pinned;
const clients = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), '.clients');
const home = path.join(clients, `claude-code-${version}`);

// The main package is a launcher that its install script fills in; where install scripts are blocked it stays empty.
// The platform package holds the program itself, and that is what the scenarios start.
function platformPackage() {
  const musl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
  return `@anthropic-ai/claude-code-${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
}

function installedVersion(dir) {
  try {
    const folder = path.join(dir, 'node_modules', platformPackage());
    const { version: found } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return existsSync(path.join(folder, 'claude')) ? found : null;
  } catch {
    return null;
  }
}

function install() {
  const beside = path.join(clients, `installing-${process.pid}`);
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { recursive: true });
  // Its own package.json keeps npm from climbing to the project's.
  writeFileSync(path.join(beside, 'package.json'), '{"private":true}\n');
  const packages = ['@anthropic-ai/claude-code', platformPackage()].map((name) => `${name}@${version}`);
  const flags = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--no-update-notifier',
    '--loglevel=error',
  ];
  const npm = spawnSync('npm', ['install', ...flags, '--cache', path.join(clients, 'npm-cache'), ...packages], {
    cwd: beside,
    stdio: ['ignore', 2, 2],
  });
  // Another run may have put its own there meanwhile, and may already be using it.
  if (npm.status === 0 && installedVersion(beside) === version && installedVersion(home) !== version) {
    try {
      rmSync(home, { recursive: true, force: true });
      renameSync(beside, home);
    } catch {
      // Lost that race at the last moment; checked below.
    }
  }
  rmSync(beside, { recursive: true, force: true });
}

const installed = path.join(home, 'node_modules', platformPackage(), 'claude');

/** The scenarios start .clients/claude and need to know neither version nor platform. */
function linkProgram() {
  const link = path.join(clients, 'claude');
  const program = path.relative(clients, installed);
  // Whoever only runs the tests may not be allowed to write here.
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(link) === program) return;
  const fresh = path.join(clients, `claude-${process.pid}`);
  symlinkSync(program, fresh);
  renameSync(fresh, link);
}

if (installedVersion(home) !== version) {
  process.stderr.write(`clients: installing Claude Code ${version} into ${path.relative(process.cwd(), home)}\n`);
  install();
  if (installedVersion(home) !== version) {
    process.stderr.write('clients: install failed: look at the npm output above and run it again\n');
    process.exit(1);
  }
}
if (process.argv[2] === undefined) linkProgram();
else process.stdout.write(`${installed}\n`);
process.stderr.write(`clients: Claude Code ${version} ready\n`);
