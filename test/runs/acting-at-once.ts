// A start of Watchkeeper is quiet at first: rules do nothing for ten seconds, the very first time for two minutes. No test has that much
// time, so the configuration that a test's daemon starts with says otherwise, unless the test has said something itself.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const start = { firstQuietSeconds: 0, quietSeconds: 0 };

/** `named`: the file that WATCHKEEPER_CONFIG names. A file that a test has taken away stays away. */
export function actAtOnce(home: string, named: string | undefined, isFirstStart: boolean): void {
  const file = named || path.join(home, '.config/watchkeeper/config.yaml');
  if (existsSync(file)) addStart(file);
  else if (!named && isFirstStart) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `start: ${JSON.stringify(start)}\n`);
  }
}

/** At its end, so that what the test wrote stands on the lines it was written on; what is no mapping is left as it is. */
function addStart(file: string): void {
  const text = readFileSync(file, 'utf8');
  const said = mapping(text);
  if (said === null || 'start' in said) return;
  if (text.trimStart().startsWith('{')) writeFileSync(file, JSON.stringify({ ...said, start }));
  else writeFileSync(file, `${text.trimEnd()}\nstart: ${JSON.stringify(start)}\n`);
}

function mapping(text: string): object | null {
  try {
    const value: unknown = parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
