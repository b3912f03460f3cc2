import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Allowance,
  allowanceOwners,
  isPlainPlace,
  makePlace,
  readAllowance,
  removeAllowance,
  writeAllowance,
} from '../act/allowance.ts';
import { makeFolder, writeByRename } from '../act/install/own-file.ts';
import type { AgentClient } from '../clients/client.ts';
import { clients } from '../clients/clients.ts';
import { answerScript } from '../clients/inbox.ts';
import { type Home, isPaused, runningDaemon } from '../home/home.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { isAlive, ownProcess } from '../record/own-process.ts';

export type AllowanceWish = Pick<Allowance, 'pid' | 'startTicks' | 'sessionId' | 'file' | 'untilMs'>;

const answerProgram = fileURLToPath(new URL('../serve/hook/answer.js', import.meta.url));

/** At the daemon's start: what has expired is forgotten, and hooks are told with which Node to look at the rest. */
export function openAllowances(home: Home, nowMs: number): void {
  for (const owner of allowanceOwners(home.allowancesDir)) {
    const allowance = readAllowance(home.allowancesDir, owner);
    if (allowance === null || allowance.untilMs <= nowMs || !isAlive(allowance))
      removeAllowance(home.allowancesDir, owner);
  }
  const script = answerScript(process.execPath, answerProgram, home.dir);
  if (makeFolder(home.allowancesDir, 0o700).ok) writeByRename(answerFile(home), Buffer.from(script), 0o600);
}

function answerFile(home: Home): string {
  return path.join(home.allowancesDir, 'answer');
}

/**
 * From now on until then that client may write that file, in that session, without a dialog; nothing else changes. The
 * folder is made here. Answers with the id to withdraw it by; a further one for the same process replaces it.
 */
export function allow(home: Home, wish: AllowanceWish): Result<string> {
  const self = ownProcess();
  if (self === null) return fail('platform', 'processes cannot be told apart here');
  if (!existsSync(answerFile(home)))
    return fail('unusable', `${answerFile(home)} is missing: no hook could answer`, 'restart the daemon');
  const place = makePlace(wish.file);
  if (!place.ok) return place;
  const id = `${wish.pid}-${wish.startTicks}-${randomBytes(6).toString('hex')}`;
  const written = writeAllowance(home.allowancesDir, { v: 1, id, bootId: self.bootId, ...wish });
  return written.ok ? ok(id) : written;
}

/** Also after a restart, and also twice. */
export function withdraw(home: Home, id: string): void {
  const [, pid, startTicks] = /^(\d{1,10})-(\d{1,20})-/.exec(id) ?? [];
  if (pid === undefined || startTicks === undefined) return;
  const owner = { pid: Number(pid), startTicks };
  if (readAllowance(home.allowancesDir, owner)?.id === id) removeAllowance(home.allowancesDir, owner);
}

/** Whatever this client may write, by whomever it was allowed. */
export function withdrawFrom(home: Home, client: Pick<Allowance, 'pid' | 'startTicks'>): void {
  removeAllowance(home.allowancesDir, client);
}

/** At the daemon's start, once the open handoffs are known: whoever has none was allowed something by nobody who still looks. */
export function keepAllowances(home: Home, kept: readonly Pick<Allowance, 'pid' | 'startTicks'>[]): void {
  for (const owner of allowanceOwners(home.allowancesDir)) {
    const isKept = kept.some(({ pid, startTicks }) => pid === owner.pid && startTicks === owner.startTicks);
    if (!isKept) removeAllowance(home.allowancesDir, owner);
  }
}

/** What a hook answers to the event it was called with; null: nothing, so that the client shows its dialog as ever. */
export function hookAnswer(home: Home, event: string, nowMs: number): string | null {
  const end = event.indexOf('\n');
  const [, pid, startTicks] = /^wk1 hook (\d{1,10}) (\d{1,20})$/.exec(event.slice(0, Math.max(0, end))) ?? [];
  if (pid === undefined || startTicks === undefined) return null;
  const allowance = readAllowance(home.allowancesDir, { pid: Number(pid), startTicks });
  if (allowance === null || allowance.untilMs <= nowMs || !isAlive(allowance)) return null;
  const isMeant = ({ permissions }: AgentClient) => {
    const request = permissions?.writeRequest(event.slice(end + 1));
    return request?.sessionId === allowance.sessionId && request.file === allowance.file;
  };
  const client = clients.find(isMeant);
  if (client === undefined) return null;
  // Without a daemon nobody looks at what was written; paused, nothing is done at all.
  if (runningDaemon(home) === null || isPaused(home)) return null;
  return isPlainPlace(allowance.file) ? (client.permissions?.allow ?? null) : null;
}
