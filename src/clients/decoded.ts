import { isAscii } from 'node:buffer';

/** Bytes to text: most is ASCII, which needs no decoding. */
export function decoded(bytes: Buffer): string {
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}
