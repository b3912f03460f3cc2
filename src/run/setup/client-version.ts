import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** The version of the Claude Code that the user's PATH leads to, by where it lies; null: not known. Nothing is run. */
export function clientVersion(environment: NodeJS.ProcessEnv): string | null {
  for (const folder of (environment.PATH ?? '').split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    let program: string;
    try {
      program = realpathSync(path.join(folder, 'claude'));
    } catch {
      continue;
    }
    return /\/claude\/versions\/(\d+\.\d+\.\d+)[^/]*$/.exec(program)?.[1] ?? packageVersion(path.dirname(program));
  }
  return null;
}

function packageVersion(folder: string): string | null {
  for (const above of [folder, path.dirname(folder)]) {
    try {
      const { name, version } = JSON.parse(readFileSync(path.join(above, 'package.json'), 'utf8')) as {
        name: unknown;
        version: unknown;
      };
      if (String(name).startsWith('@anthropic-ai/claude-code')) return String(version);
    } catch {
      // Not the package's own folder.
    }
  }
  return null;
}
