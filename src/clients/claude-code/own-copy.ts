// A result is in its record twice: as the model got it, and as the client keeps it for its own screen, which is most of the
// bytes of a transcript. Of that copy only what was left running is ever read.

/** Shorter records are read whole in the same time. */
const worthBytes = 1_500;
const tailBytesMax = 1_500;
const copyKey = Buffer.from(',"toolUseResult":');
/** Looked for by its end: a search is as fast as its first letter is rare. */
const copyKeyEnd = Buffer.from('UseResult":');
/** Keys of the record that come after the copy, in the present version and in older ones. */
const tailKeys = [Buffer.from(',"userType":"'), Buffer.from(',"uuid":"')];
/** `backgroundTaskId` and `agentId`: work left running. `parentUuid`: a write that broke off, and the next record behind it. */
const readKeys = [Buffer.from('Id":'), Buffer.from('Uuid":')];

/**
 * Where a record of a transcript may be cut so that it says the same without the copy; null: it may not. A quote
 * after a comma cannot be inside a text, so both ends are at keys; if they are not of the record itself, what is
 * left is no JSON, and the record has to be read whole.
 */
export function ownCopy(line: Buffer): { from: number; to: number } | null {
  if (line.length < worthBytes) return null;
  const found = line.indexOf(copyKeyEnd);
  const from = found + copyKeyEnd.length - copyKey.length;
  if (found < 0 || from < 0 || !line.subarray(from, from + copyKey.length).equals(copyKey)) return null;
  const tailFrom = Math.max(from, line.length - tailBytesMax);
  const tail = line.subarray(tailFrom);
  for (const key of tailKeys) {
    const place = tail.lastIndexOf(key);
    if (place < 0) continue;
    const to = tailFrom + place;
    const copy = line.subarray(from, to);
    return readKeys.some((read) => copy.includes(read)) ? null : { from, to };
  }
  return null;
}
