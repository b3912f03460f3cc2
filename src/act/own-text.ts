import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';

/** The one way in which our own files are read: whatever somebody put in their place neither holds us up nor leads elsewhere. */

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const bytesMax = 64 * 1024 * 1024;

/** Throws as `node:fs` does, and where it is no plain file. `fits`: what else it has to be. */
export function readOwnBytes(file: string, fits: (stat: Stats) => boolean = () => true): Buffer {
  // Without O_NONBLOCK opening a FIFO would wait for its writer.
  const fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > bytesMax || !fits(stat)) throw new Error(`${file} is no file of ours`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function readOwnText(file: string, fits?: (stat: Stats) => boolean): string {
  return readOwnBytes(file, fits).toString('utf8');
}
