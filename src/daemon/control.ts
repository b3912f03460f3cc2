import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Home } from '../home/home.ts';
import type { Json } from '../model/event.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { shown } from '../model/text.ts';
import { type ControlRequest, parseRequest } from './requests.ts';

export interface ControlServer {
  path: string;
  /** To everyone who follows. */
  tell(line: Json): void;
  close(): void;
}

const requestBytesMax = 1024 * 1024;
/** Who is let in and says nothing is sent away. */
const requestMs = 10_000;
const followerBytesMax = 4 * 1024 * 1024;
const socketBytesMax = 100;

export function serveControl(
  home: Home,
  answer: (request: ControlRequest) => Promise<unknown>,
): Promise<Result<ControlServer, 'unusable'>> {
  const followers = new Set<net.Socket>();
  const place = socketPlace(home);
  const server = net.createServer((socket) => {
    let text = '';
    const give = (reply: unknown) => socket.end(`${JSON.stringify(reply)}\n`);
    const refuse = (why: string) => give({ error: shown(why, 500) });
    socket.setEncoding('utf8');
    socket.setTimeout(requestMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => followers.delete(socket));
    const read = (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0 && text.length <= requestBytesMax) return;
      socket.off('data', read).resume();
      socket.setTimeout(0);
      if (end < 0 || end > requestBytesMax) return refuse('a request has at most 1 MiB');
      if (end < text.length - 1) return refuse('one request at a time: a line of JSON');
      const request = parseRequest(text.slice(0, end));
      if (!request.ok) return refuse(request.message);
      if (request.value.ask === 'follow') return followers.add(socket);
      answer(request.value).then(give, () => refuse('the daemon could not answer: see its log'));
    };
    socket.on('data', read);
  });
  return new Promise((resolve) => {
    rmSync(place.path, { force: true });
    server.on('error', (error) => resolve(fail('unusable', `the control socket cannot be opened (${error.message})`)));
    server.listen(place.path, () => {
      // Nobody else may talk to it, whatever the umask.
      chmodSync(place.path, 0o600);
      resolve(
        ok({
          path: place.path,
          tell(line) {
            const text = `${JSON.stringify(line)}\n`;
            for (const socket of followers) {
              // Who does not read is dropped, so that memory stays bounded.
              if (socket.writableLength > followerBytesMax) socket.destroy();
              else socket.write(text);
            }
          },
          close() {
            for (const socket of followers) socket.destroy();
            server.close();
            place.remove();
          },
        }),
      );
    });
  });
}

/** In the 0700 home; where its path is too long for a socket, in a private folder of the temp directory. */
function socketPlace(home: Home): { path: string; remove(): void } {
  const usual = path.join(home.dir, 'daemon.sock');
  if (Buffer.byteLength(usual) <= socketBytesMax) return { path: usual, remove: () => rmSync(usual, { force: true }) };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'wk-control-'));
  return { path: path.join(folder, 'daemon.sock'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function askControl<T>(socketPath: string, request: ControlRequest, timeoutMs: number): Promise<Result<T>> {
  return new Promise((resolve) => {
    let text = '';
    const socket = net.connect(socketPath, () => socket.write(`${JSON.stringify(request)}\n`));
    const give = (result: Result<T>) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => give(fail('timeout', 'the daemon does not answer')), timeoutMs);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', (error) => give(fail('gone', `the daemon cannot be reached (${error.message})`)));
    socket.on('end', () => {
      try {
        const reply = JSON.parse(text) as T;
        const { error } = { ...reply } as { error?: unknown };
        give(typeof error === 'string' ? fail('refused', error) : ok(reply));
      } catch {
        give(fail('gone', 'the daemon hung up'));
      }
    });
  });
}

/** Calls back for every event until the daemon goes or the caller stops. */
export function followControl(socketPath: string, line: (value: Json) => void): { ended: Promise<void>; stop(): void } {
  const socket = net.connect(socketPath, () => socket.write('{"ask":"follow"}\n'));
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) line(JSON.parse(text) as Json);
  });
  const ended = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
  });
  return { ended, stop: () => socket.destroy() };
}
