import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { findHome, writeDaemonRecord } from '../../home/home.ts';
import { ownProcess } from '../../record/own-process.ts';
import { askDaemon } from './daemon.ts';
import { exit } from './outcome.ts';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0)) step();
  vi.unstubAllEnvs();
});

/** A daemon that reads a request and ends without a word, as one that is killed. */
async function daemon(isListening: boolean): Promise<void> {
  const dir = mkdtempSync(path.join(tmpdir(), 'wk-silent-'));
  const control = path.join(dir, 'daemon.sock');
  vi.stubEnv('WATCHKEEPER_HOME', dir);
  undo.push(() => rmSync(dir, { recursive: true }));
  const self = ownProcess();
  if (self === null) throw new Error('no process of its own');
  writeDaemonRecord(findHome(process.env), { ...self, startedAt: '', version: '', sockets: { control } });
  if (!isListening) return;
  const server = net.createServer((socket) => socket.once('data', () => socket.end()));
  undo.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(control, resolve));
}

const prompt = { agent: 'shop-ps', said: 'go on', waitMs: 0 };

it('a prompt that was handed over and not answered is uncertain: said again, it might come twice', async () => {
  await daemon(true);
  await expect(askDaemon('prompt', prompt)).rejects.toMatchObject({ code: exit.uncertain });
  await expect(askDaemon('interrupt', { agent: 'shop-ps', waitMs: 0, dryRun: false })).rejects.toMatchObject({
    code: exit.uncertain,
  });
});

it('a question that was not answered, and a prompt that was never handed over, have met no daemon', async () => {
  await daemon(true);
  await expect(askDaemon('status', {})).rejects.toMatchObject({ code: exit.noDaemon });
  await daemon(false);
  await expect(askDaemon('prompt', prompt)).rejects.toMatchObject({ code: exit.noDaemon });
});
