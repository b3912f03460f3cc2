import { asString, parseObject } from '../json.ts';

/** The mode in which a session asks or does not ask, as these lines of its record have it last; null: they do not say. */
export function permissionModeIn(text: string): string | null {
  for (const line of text.split('\n').reverse()) {
    if (!line.includes('"permissionMode"')) continue;
    const record = parseObject(line);
    const isItsOwn = record?.type === 'permission-mode' || (record?.type === 'user' && record.isSidechain !== true);
    if (isItsOwn) return asString(record.permissionMode);
  }
  return null;
}

/** In this one, `manual` on the screen, it asks before it writes any file. */
export const manualMode = 'default';
