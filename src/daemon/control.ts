import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Home } from '../home/home.ts';
import type { Json } from '../model/event.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { shown } from '../model/text.ts';
import { ownAsker } from './asker.ts';
import type { RequestFailure } from './requests/request.ts';
import type { RequestDocument, RequestInput, RequestName } from './requests/table.ts';

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

/** One line for another; `follows`: from now on every event instead. */
export type Reply = { line: string } | 'follows';

export function serveControl(
  home: Home,
  answer: (line: string) => Promise<Reply>,
): Promise<Result<ControlServer, 'unusable'>> {
  const followers = new Set<net.Socket>();
  const place = socketPlace(home);
  const server = net.createServer((socket) => {
    let text = '';
    const refuse = (why: string) => socket.end(refusalLine('bad-request', why));
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
      answer(text.slice(0, end)).then(
        (reply) => (reply === 'follows' ? followers.add(socket) : socket.end(reply.line)),
        () => socket.end(refusalLine('failed', 'the daemon could not answer', 'see its log')),
      );
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

/** What goes back in place of a document. */
export function refusalLine(code: RequestFailure, message: string, fix: string | null = null): string {
  return `${JSON.stringify({ error: shown(message, 450), code, ...(fix === null ? {} : { fix: shown(fix, 450) }) })}\n`;
}

/** `gone`: it was not asked; `silent`: it was, and nothing came back; all else the daemon said. */
export type AskFailure = RequestFailure | 'gone' | 'silent';

/** Asks a daemon by the table of requests. */
export function askControl<Name extends RequestName>(
  socketPath: string,
  request: { ask: Name } & RequestInput<Name>,
  timeoutMs: number,
): Promise<Result<RequestDocument<Name>, AskFailure>> {
  return new Promise((resolve) => {
    let text = '';
    let isAsked = false;
    const line = `${JSON.stringify({ ...request, asker: ownAsker() })}\n`;
    const socket = net.connect(socketPath, () => {
      isAsked = true;
      socket.write(line);
    });
    const give = (result: Result<RequestDocument<Name>, AskFailure>) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => give(fail('silent', 'the daemon does not answer')), timeoutMs);
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', (error) =>
      give(fail(isAsked ? 'silent' : 'gone', `the daemon cannot be reached (${error.message})`)),
    );
    socket.on('end', () => {
      try {
        const reply = JSON.parse(text) as RequestDocument<Name>;
        const { error, code, fix } = { ...(reply as object) } as {
          error?: string;
          code?: RequestFailure;
          fix?: string;
        };
        // One of another version may not say what kind of refusal it is.
        give(typeof error === 'string' ? fail(code ?? 'bad-request', error, fix) : ok(reply));
      } catch {
        give(fail('silent', 'the daemon closed the connection'));
      }
    });
  });
}

/** Calls back for every event until the daemon goes or the caller stops. */
export function followControl(socketPath: string, line: (value: Json) => void): { ended: Promise<void>; stop(): void } {
  const request = `${JSON.stringify({ ask: 'follow' satisfies RequestName, asker: ownAsker() })}\n`;
  const socket = net.connect(socketPath, () => socket.write(request));
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
