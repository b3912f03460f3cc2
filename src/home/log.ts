import { closeSync, constants, openSync, renameSync, statSync, writeSync } from 'node:fs';
import type { Json } from '../model/event.ts';
import { shown } from '../model/text.ts';

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const fileBytesMax = 5 * 1024 * 1024;

export interface Log {
  write(level: 'info' | 'warn' | 'error', message: string, data?: { [key: string]: Json }): void;
}

/** JSON lines, one file before the present one. A full disk must not stop the daemon, so a lost line is just lost. */
export function fileLog(file: string): Log {
  let bytes = sizeOf(file);
  return {
    write(level, message, data = {}) {
      const line = `${JSON.stringify({ at: new Date().toISOString(), level, message: shown(message), ...data })}\n`;
      try {
        if (bytes + line.length > fileBytesMax) {
          renameSync(file, `${file}.1`);
          bytes = 0;
        }
        append(file, line);
        bytes += line.length;
      } catch {
        bytes = sizeOf(file);
      }
    },
  };
}

/** A FIFO in its place takes nothing, instead of holding us up until somebody reads it. */
function append(file: string, line: string): void {
  const fd = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    writeSync(fd, line);
  } finally {
    closeSync(fd);
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
}
