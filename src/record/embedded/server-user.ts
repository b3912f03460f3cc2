import { readFileSync } from 'node:fs';
import os from 'node:os';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import type { OsUser } from './run-as.ts';

const preferred = ['watchkeeper', 'postgres', 'nobody'];

export function weAreRoot(): boolean {
  return process.getuid?.() === 0;
}

/** PostgreSQL looks its user up by name; null: this uid has none. */
export function callerName(): string | null {
  try {
    return os.userInfo().username;
  } catch {
    return null;
  }
}

/**
 * Who the server runs as; null: ourselves. PostgreSQL refuses root, so root hands it to somebody else: the owner of the
 * cluster that is already there, else the first of the usual users.
 */
export function chooseServerUser(
  clusterOwner: number | null,
  passwd: string = readPasswd(),
): Result<OsUser | null, EmbeddedFailure> {
  if (!weAreRoot()) {
    if (callerName() !== null) return ok(null);
    return embeddedFailure(
      'no-user',
      `PostgreSQL needs a user name, and uid ${process.getuid?.()} has none in /etc/passwd`,
    );
  }
  const users = parsePasswd(passwd);
  if (clusterOwner !== null) {
    const owner = users.find((user) => user.uid === clusterOwner);
    if (owner !== undefined) return ok(owner);
    return embeddedFailure('no-user', `the database files belong to uid ${clusterOwner}, which is not in /etc/passwd`);
  }
  for (const name of preferred) {
    const user = users.find((candidate) => candidate.name === name);
    if (user !== undefined) return ok(user);
  }
  return embeddedFailure(
    'no-user',
    `PostgreSQL does not run as root, and none of the users ${preferred.join(', ')} exists`,
    'create a user named watchkeeper',
  );
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

function parsePasswd(text: string): OsUser[] {
  const users: OsUser[] = [];
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '') || uid === '0') continue;
    users.push({ name, uid: Number(uid), gid: Number(gid) });
  }
  return users;
}
