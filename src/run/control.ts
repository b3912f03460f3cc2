import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Authority } from '../model/agent.ts';
import type { Json } from '../model/event.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { PromptWords } from './acting.ts';
import type { Home } from './home.ts';

/** A request is one line of JSON, the answer one line back; `follow` gets a line for every event until it hangs up. */
export type ControlRequest =
  | { ask: 'status' | 'doctor' | 'follow' }
  | { ask: 'stop'; keepDb: boolean }
  | { ask: 'prompt'; agent: string; said: PromptWords; waitMs: number }
  | { ask: 'authority'; agent: string; authority: Authority }
  | { ask: 'ack'; id: string; denied: boolean }
  | { ask: 'inbox' }
  | { ask: 'handoff'; agent: string; dryRun: boolean }
  | { ask: 'handoff-state'; id: string }
  | { ask: 'why' | 'compact'; agent: string }
  | { ask: 'forget'; forms: string[] };

export interface ControlServer {
  path: string;
  /** To everyone who follows. */
  tell(line: Json): void;
  close(): void;
}

const requestBytesMax = 1024 * 1024;
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
    socket.setEncoding('utf8');
    socket.on('error', () => socket.destroy());
    socket.on('close', () => followers.delete(socket));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > requestBytesMax) return socket.destroy();
      if (!text.includes('\n')) return;
      const request = parseRequest(text);
      text = '';
      if (request === null) socket.destroy();
      else if (request.ask === 'follow') followers.add(socket);
      else
        answer(request).then(
          (reply) => socket.end(`${JSON.stringify(reply)}\n`),
          () => socket.destroy(),
        );
    });
  });
  return new Promise((resolve) => {
    rmSync(place.path, { force: true });
    server.on('error', (error) => resolve(fail('unusable', `the control socket cannot be opened (${error.message})`)));
    server.listen(place.path, () =>
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
      ),
    );
  });
}

/** In the 0700 home; where its path is too long for a socket, in a private folder of the temp directory. */
function socketPlace(home: Home): { path: string; remove(): void } {
  const usual = path.join(home.dir, 'daemon.sock');
  if (Buffer.byteLength(usual) <= socketBytesMax) return { path: usual, remove: () => rmSync(usual, { force: true }) };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'wk-control-'));
  return { path: path.join(folder, 'daemon.sock'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const requests: readonly string[] = [
  ...['status', 'doctor', 'follow', 'stop', 'prompt', 'authority', 'ack', 'inbox', 'why', 'compact', 'handoff'],
  ...['handoff-state', 'forget'],
];

function parseRequest(text: string): ControlRequest | null {
  try {
    const request = JSON.parse(text) as ControlRequest;
    return requests.includes(request.ask) ? request : null;
  } catch {
    return null;
  }
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
        give(ok(JSON.parse(text) as T));
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
