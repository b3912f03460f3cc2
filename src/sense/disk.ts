import { statfsSync } from 'node:fs';

const mebibyte = 1024 * 1024;
/** A database that cannot write its log ends; this is what the smallest piece of it takes. */
const roomMin = 16 * mebibyte;
/** On a small disk that would be much of it. */
const shareMin = 0.05;

/** Why the disk under this folder is as good as full; null: it is not, or nobody knows. */
export function whyFull(folder: string): string | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    // Some file systems count nothing.
    if (blocks === 0 || bavail * bsize >= Math.min(roomMin, blocks * bsize * shareMin)) return null;
    return `${Math.floor((bavail * bsize) / mebibyte)} MiB are free in ${folder}`;
  } catch {
    return null;
  }
}

/** Does this message say that there is no room? Of the system, of the database, of a quota. */
export function saysFull(message: string | null): boolean {
  return message !== null && /no space left on device|disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i.test(message);
}
