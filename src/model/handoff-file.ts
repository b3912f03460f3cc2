import type { UntrustedText } from './text.ts';

/** What a look at the file that a handoff was asked for finds. */
export type HandoffLook =
  | {
      kind: 'ok';
      text: UntrustedText;
      /** Of the file's bytes, in hexadecimal. */
      sha256: string;
      mtimeMs: number;
    }
  | { kind: 'missing' | 'link' | 'not-regular' | 'outside' | 'old' | 'empty' | 'huge' | 'changing' | 'unreadable' };

/** Larger is no handoff. */
export const documentBytesMax = 256 * 1024;
