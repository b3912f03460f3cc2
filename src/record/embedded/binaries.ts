import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import type { PostgresPackage } from './package.ts';
import { type RunEnd, runAs } from './run-as.ts';

const checkTimeoutMs = 10_000;

/** Copies the server into `<pgRoot>/<version>`, which exists only whole and checked. */
export async function installBinaries(
  source: PostgresPackage,
  pgRoot: string,
): Promise<Result<string, EmbeddedFailure>> {
  const installed = path.join(pgRoot, source.version);
  const fresh = `${installed}.tmp-${process.pid}`;
  try {
    removeLeftovers(pgRoot, `${source.version}.tmp-`);
    copyTree(source.native, fresh);
    linkLibraries(source.native, fresh);
    const checked = explainRun(await runVersion(fresh, null), fresh);
    if (!checked.ok) return checked;
    rmSync(installed, { recursive: true, force: true });
    renameSync(fresh, installed);
    return ok(installed);
  } catch (error) {
    return embeddedFailure('no-access', `PostgreSQL cannot be copied to ${pgRoot}: ${(error as Error).message}`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

export function runVersion(binaries: string, user: Parameters<typeof runAs>[0]): Promise<RunEnd> {
  return runAs(user, [postgresIn(binaries), '--version'], { cwd: '/', timeoutMs: checkTimeoutMs });
}

export function postgresIn(binaries: string): string {
  return path.join(binaries, 'bin', 'postgres');
}

/** Why a binary we just copied does not run. */
export function explainRun(end: RunEnd, binaries: string): Result<null, EmbeddedFailure> {
  // An empty file runs as well: as a shell script that says nothing.
  if (end.code === 0 && end.output.includes('(PostgreSQL)')) return ok(null);
  const file = postgresIn(binaries);
  if (end.execError === 'EACCES' || end.execError === 'EPERM') {
    return embeddedFailure(
      'exec-failed',
      `${file} may not be executed: its file system is mounted noexec or a policy forbids it`,
      'put WATCHKEEPER_HOME on another file system',
    );
  }
  if (end.execError === 'ENOENT' && existsSync(file)) {
    return embeddedFailure('exec-failed', 'the embedded PostgreSQL needs glibc, and this system has none (musl?)');
  }
  return embeddedFailure(
    'exec-failed',
    `${file} does not run: ${end.execError ?? (end.output || `exit code ${end.code}`)}`,
  );
}

/** A power cut soon after the copying leaves empty files; flushing a thousand of them would take seconds on a busy disk. */
export function isWhole(native: string, installed: string): boolean {
  return readdirSync(native).every((name) => {
    const source = lstatSync(path.join(native, name));
    if (source.isSymbolicLink() || !isWanted(name)) return true;
    const copy = lstatSync(path.join(installed, name), { throwIfNoEntry: false });
    if (source.isDirectory())
      return copy?.isDirectory() === true && isWhole(path.join(native, name), path.join(installed, name));
    return copy?.isFile() === true && copy.size === source.size;
  });
}

/** Not what is only there to build other programs with. */
function isWanted(name: string): boolean {
  return name !== 'pgxs' && name !== 'pkgconfig' && !name.endsWith('.a');
}

function removeLeftovers(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix)) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

function copyTree(from: string, to: string): void {
  mkdirSync(to);
  // Whatever our umask and npm's were, the server's user has to read all this.
  chmodSync(to, 0o755);
  for (const name of readdirSync(from).filter(isWanted)) {
    const source = path.join(from, name);
    const target = path.join(to, name);
    const info = lstatSync(source);
    if (info.isDirectory()) {
      copyTree(source, target);
    } else if (info.isFile()) {
      copyFileSync(source, target, constants.COPYFILE_FICLONE);
      chmodSync(target, path.basename(from) === 'bin' ? 0o755 : 0o644);
    }
    // Links are not copied: after the package's postinstall they may be absolute ones into node_modules.
  }
}

function linkLibraries(native: string, installed: string): void {
  const listed = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of listed) {
    const at = path.resolve(installed, path.relative('native', target));
    const to = path.resolve(installed, path.relative('native', source));
    if (at.startsWith(installed + path.sep) && existsSync(to)) link(path.relative(path.dirname(at), to), at);
  }
  const lib = path.join(installed, 'lib');
  for (const name of readdirSync(lib)) {
    for (const alias of shorterNames(name)) link(name, path.join(lib, alias));
  }
}

/** The names a loader may ask for: libicudata.so.60.2 → libicudata.so.60; libicudata.68.2.dylib → libicudata.68.dylib. */
export function shorterNames(file: string): string[] {
  const [, linux, major] = /^(lib.+\.so)\.(\d+)\.[\d.]+$/.exec(file) ?? [];
  if (linux !== undefined) return [`${linux}.${major}`];
  const [, mac, macMajor] = /^(lib.+?)\.(\d+)\.[\d.]*\d\.dylib$/.exec(file) ?? [];
  return mac === undefined ? [] : [`${mac}.${macMajor}.dylib`];
}

function link(to: string, at: string): void {
  if (!existsSync(at)) symlinkSync(to, at);
}
