import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { type OsUser, runAs } from './run-as.ts';

/** Nobody else is this user: whatever runs as the server's own can write the database's files. */
export const serverUserName = 'watchkeeper';

const createTimeoutMs = 60_000;

export interface UserWish {
  /** false: whoever started us wants no user made. */
  createUser: boolean;
  notice: (line: string) => void;
}

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

/** Who the server runs as; null: ourselves. PostgreSQL refuses root, so root hands it to a user made for it. */
export async function chooseServerUser(wish: UserWish): Promise<Result<OsUser | null, EmbeddedFailure>> {
  if (!weAreRoot()) {
    if (callerName() !== null) return ok(null);
    return embeddedFailure(
      'no-user',
      `PostgreSQL needs a user name, and uid ${process.getuid?.()} has none in /etc/passwd`,
    );
  }
  const there = findServerUser(readPasswd());
  if (!there.ok || there.value !== null) return there;
  if (!wish.createUser) {
    return embeddedFailure(
      'no-user',
      `PostgreSQL does not run as root, and there is no user ${serverUserName} it could run as`,
      `let \`watchkeeper up\` create it or do it by hand (useradd --system ${serverUserName})`,
    );
  }
  return createServerUser(wish.notice);
}

/** null: there is none. */
export function findServerUser(passwd: string): Result<OsUser | null, EmbeddedFailure> {
  const users = parsePasswd(passwd);
  const user = users.find(({ name }) => name === serverUserName) ?? null;
  const other = users.find(({ name, uid }) => name !== serverUserName && uid === user?.uid);
  if (user === null || (user.uid !== 0 && other === undefined)) return ok(user);
  return embeddedFailure(
    'no-user',
    `the user ${serverUserName} has the same uid as ${other?.name ?? 'root'}, so the database would not be its own`,
    'give it a uid of its own',
  );
}

/** Somebody else may have made it in the same moment: what counts is that it is there. */
async function createServerUser(notice: (line: string) => void): Promise<Result<OsUser, EmbeddedFailure>> {
  const shell = ['/usr/sbin/nologin', '/sbin/nologin'].find((file) => existsSync(file)) ?? '/bin/false';
  const useradd = ['/usr/sbin/useradd', '/sbin/useradd'].find((file) => existsSync(file));
  const none = '/nonexistent';
  const end = await runAs(
    null,
    useradd === undefined
      ? ['/usr/sbin/adduser', '-S', '-D', '-H', '-h', none, '-s', shell, serverUserName]
      : [useradd, '--system', '--no-create-home', '--home-dir', none, '--shell', shell, serverUserName],
    { cwd: '/', timeoutMs: createTimeoutMs },
  );
  const there = findServerUser(readPasswd());
  if (!there.ok) return there;
  if (there.value !== null) {
    if (end.code === 0) notice(`created the system user ${serverUserName} for the database: no login, no home`);
    return ok(there.value);
  }
  const why = end.execError ?? (end.output.trim() || `exit code ${end.code}`);
  return embeddedFailure(
    'no-user',
    `the system user ${serverUserName} for the database cannot be created: ${why}`,
    'create it by hand',
  );
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

/** For people: the name where there is one. */
export function nameOfUid(uid: number): string {
  return parsePasswd(readPasswd()).find((user) => user.uid === uid)?.name ?? `uid ${uid}`;
}

function parsePasswd(text: string): OsUser[] {
  const users: OsUser[] = [];
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) continue;
    users.push({ name, uid: Number(uid), gid: Number(gid) });
  }
  return users;
}
