import { asString, parseObject } from '../json.ts';

/** In this one, `manual` on the screen, it asks before it writes any file. */
const manualMode = 'default';

/** By the mode in which a session asks or does not ask, as these lines of its record have it last. */
export function asksToWrite(lines: string): boolean | null {
  for (const line of lines.split('\n').reverse()) {
    if (!line.includes('"permissionMode"')) continue;
    const record = parseObject(line);
    const isItsOwn = record?.type === 'permission-mode' || (record?.type === 'user' && record.isSidechain !== true);
    if (!isItsOwn) continue;
    const mode = asString(record.permissionMode);
    return mode === null ? null : mode === manualMode;
  }
  return null;
}
