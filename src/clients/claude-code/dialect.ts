import type { Dialect } from '../client.ts';
import { ownCommandFor } from './own-commands.ts';
import { findInputBox } from './screen.ts';

/** How Claude Code is typed to (seen on 2.1.200 to 2.1.325). */
export const dialect: Dialect = {
  findInputBox,
  keys: { submit: 'Enter', clearRow: 'C-u', stash: 'C-s', interrupt: 'Escape' },
  pasteChip: {
    breaks(shown) {
      const chip = /^\[Pastedtext#\d+(?:\+(\d+)lines)?\]$/.exec(shown);
      return chip === null ? null : Number(chip[1] ?? 0);
    },
    mark: 'Pasted text ',
  },
  commands: {
    clear: { text: '/clear', mark: 'clear', provedBy: 'session' },
    compact: { text: '/compact', mark: 'compact', provedBy: 'history' },
    resume: (sessionId) => ({ text: `/resume ${sessionId}`, mark: sessionId, provedBy: 'session' }),
  },
  ownCommandFor,
};
