import { chmodSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { port, shortHash } from './settings.ts';

/** The kernel allows 107 bytes; the rest is margin. */
const pathBytesMax = 100;

export function socketFits(socketDir: string): boolean {
  return Buffer.byteLength(path.join(socketDir, `.s.PGSQL.${port}`)) <= pathBytesMax;
}

/** A short private directory for a home whose own path is too long for a socket. root has a shorter place instead. */
export function shortSocketDir(home: string, recorded: string | null): string {
  if (recorded !== null && socketFits(recorded) && claim(recorded)) return recorded;
  const name = `wk-${shortHash(home)}`;
  for (const parent of [process.env.XDG_RUNTIME_DIR, os.tmpdir(), '/tmp']) {
    if (!parent || !path.isAbsolute(parent)) continue;
    const candidate = path.join(parent, name);
    if (socketFits(candidate) && claim(candidate)) return candidate;
  }
  // Somebody else sits on the name we can be expected to use.
  return mkdtempSync('/tmp/wk-');
}

function claim(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  try {
    const info = lstatSync(folder);
    if (!info.isDirectory() || info.uid !== process.getuid?.()) return false;
    chmodSync(folder, 0o700);
    return true;
  } catch {
    return false;
  }
}
