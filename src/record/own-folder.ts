import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';

const othersWrite = 0o022;
const sticky = 0o1000;

/**
 * Could anybody but this user and root put another folder in the place of this one? In a folder that others write to,
 * they can, unless it is sticky as /tmp is. null: nobody can.
 */
export function whyOthersMayMove(folder: string): string | null {
  const ours = [0, process.getuid?.()];
  for (let above = path.dirname(realpathSync(folder)); ; above = path.dirname(above)) {
    const { uid, mode } = statSync(above);
    if (!ours.includes(uid)) return `${above}, which it is in, belongs to uid ${uid}`;
    if ((mode & othersWrite) !== 0 && (mode & sticky) === 0) return `others can write to ${above}, which it is in`;
    if (above === path.dirname(above)) return null;
  }
}
