import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { writeByRename } from '../act/install/own-file.ts';
import { readOwnText } from '../act/own-text.ts';
import type { HostEntry } from '../model/host.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { findHome, type Home } from './home.ts';

/** `host.json`: whose rows these are, whatever the machine is called. */
interface HostFile {
  v: 1;
  id: string;
  /** Of the machine's own id, which is nobody else's business; null: it has none. */
  machine: string | null;
  /** Where the data directory was when this was written. */
  dir: string;
  /** Of which directory this is a copy: also a start that failed before it was entered is not the last word. */
  copyOf: string | null;
}

const machineFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
const idPattern = /^[0-9a-f-]{36}$/;

/** Under what the rows of this data directory stand; before its first daemon: under the machine's name, as they did once. */
export function ownHost(environment: NodeJS.ProcessEnv = process.env): string {
  const found = read(findHome(environment).hostFile);
  return found === 'unreadable' ? os.hostname() : (found?.id ?? os.hostname());
}

/**
 * Of the daemon that holds this directory. A directory that was copied, to another machine or beside the first, is another host: two
 * supervisors under one id would take each other's agents and handoffs for their own. One that was moved or put back stays itself.
 */
export function claimHost(home: Home): Result<HostEntry> {
  const here = { machine: machineId(), dir: realpathSync(home.dir) };
  const name = os.hostname();
  const known = read(home.hostFile);
  // To begin anew would be to forget what people said about these agents.
  if (known === 'unreadable')
    return fail(
      'unusable',
      `${home.hostFile} cannot be read`,
      'put it right; without it what people said about agents is forgotten',
    );
  const isCopy = known !== null && isCopied(known, here);
  const id = known === null || isCopy ? randomUUID() : known.id;
  const copyOf = isCopy ? known.id : (known?.copyOf ?? null);
  const entry: HostEntry = { id, name, machine: here.machine, copyOf };
  const file: HostFile = { v: 1, id, machine: here.machine ?? known?.machine ?? null, dir: here.dir, copyOf };
  if (known !== null && JSON.stringify(known) === JSON.stringify(file)) return ok(entry);
  const written = writeByRename(home.hostFile, Buffer.from(`${JSON.stringify(file)}\n`), 0o600);
  return written.ok ? ok(entry) : written;
}

function isCopied(known: HostFile, here: Pick<HostFile, 'machine' | 'dir'>): boolean {
  if (known.machine !== null && here.machine !== null && known.machine !== here.machine) return true;
  if (known.dir === here.dir) return false;
  // Moved, unless the first is still where it was. Where that cannot be seen, it may be.
  const there = read(path.join(known.dir, 'host.json'));
  return there === 'unreadable' || there?.id === known.id;
}

/** For a backup: what goes back with the rows that stand under it. null: there is none. */
export function hostRecord(home: Home): string | null {
  const known = read(home.hostFile);
  return known === null || known === 'unreadable' ? null : JSON.stringify(known);
}

/** The rows of a backup are this directory's: it is then as if that one had been put back here, and the next start judges it so. */
export function takeOverHost(home: Home, record: string): Result<void> {
  if (parse(record) === 'unreadable') return fail('unusable', 'the backup does not say whose rows it holds');
  return writeByRename(home.hostFile, Buffer.from(`${record}\n`), 0o600);
}

/** null: there is none. */
function read(file: string): HostFile | 'unreadable' | null {
  let text: string;
  try {
    text = readOwnText(file);
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '') ? null : 'unreadable';
  }
  return parse(text);
}

function parse(text: string): HostFile | 'unreadable' {
  try {
    const { v, id, machine, dir, copyOf } = JSON.parse(text) as HostFile;
    const isWhole = v === 1 && typeof id === 'string' && idPattern.test(id) && typeof dir === 'string';
    if (!isWhole) return 'unreadable';
    return {
      ...{ v, id, machine: typeof machine === 'string' ? machine : null, dir },
      copyOf: typeof copyOf === 'string' && idPattern.test(copyOf) ? copyOf : null,
    };
  } catch {
    return 'unreadable';
  }
}

function machineId(): string | null {
  for (const file of machineFiles) {
    try {
      const id = readFileSync(file, 'utf8').trim();
      if (/^[0-9a-f]{32}$/.test(id)) return createHash('sha256').update(`watchkeeper ${id}`).digest('hex').slice(0, 32);
    } catch {
      // The next one, then.
    }
  }
  return null;
}
