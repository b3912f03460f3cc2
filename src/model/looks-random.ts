/** Of anything longer this is enough to tell. */
const charsMax = 80;
const charsMin = 8;
const changesMin = 4;
const changesShareMin = 0.4;

/**
 * Made by chance and not by a person: small letters, capitals and figures take turns as in no word, path, name, time or
 * version. What stands between them counts for nothing.
 */
export function looksRandom(value: string): boolean {
  const text = value.slice(0, charsMax);
  if (text.includes('/') || !/\d/.test(text)) return false;
  let [chars, changes, last] = [0, 0, -1];
  for (let at = 0; at < text.length; at += 1) {
    const kind = kindOf(text.charCodeAt(at));
    if (kind === null) continue;
    if (chars > 0 && kind !== last) changes += 1;
    chars += 1;
    last = kind;
  }
  return chars >= charsMin && changes >= Math.max(changesMin, (chars - 1) * changesShareMin);
}

function kindOf(code: number): number | null {
  if (code >= 48 && code <= 57) return 0;
  if (code >= 97 && code <= 122) return 1;
  return code >= 65 && code <= 90 ? 2 : null;
}
