import path from 'node:path';
import { shown } from '../model/text.ts';
import type { SeenAgent } from '../sense/fleet.ts';

const nameCharsMax = 100;

/**
 * The agent's name: its tmux session's; further panes of that session get their index. Outside tmux: project and pid.
 * A name once given stays with the process, and no two living agents share one.
 */
export function nameFor(seen: SeenAgent, project: string, taken: ReadonlySet<string>): string {
  const { place, process } = seen;
  if (place === null) return unique(`${project}-${process.pid}`, [], taken);
  const session = shown(place.pane.session, nameCharsMax);
  const { windowIndex, paneIndex } = place.pane;
  return unique(
    session,
    [
      `${session}.${paneIndex}`,
      `${session}.${windowIndex}.${paneIndex}`,
      `${session}@${shown(path.basename(place.socket), nameCharsMax)}`,
    ],
    taken,
  );
}

/** false: its tmux session was renamed since, or its pane was moved to another one. */
export function isNamedAfter(name: string, session: string): boolean {
  const given = shown(session, nameCharsMax);
  return name === given || ['.', '@', '~'].some((mark) => name.startsWith(given + mark));
}

function unique(name: string, others: string[], taken: ReadonlySet<string>): string {
  const free = [name, ...others].find((candidate) => !taken.has(candidate));
  if (free !== undefined) return free;
  for (let count = 2; ; count += 1) {
    if (!taken.has(`${name}~${count}`)) return `${name}~${count}`;
  }
}

/** The session's name without `-ps`, else the directory's base name. */
export function projectFor(session: string | null, cwd: string | null): string {
  const stem = session === null ? null : /^(.+)-ps$/.exec(session)?.[1];
  if (stem !== undefined && stem !== null) return shown(stem, nameCharsMax);
  const base = cwd === null ? '' : path.basename(cwd);
  return shown(base === '' ? (session ?? 'unknown') : base, nameCharsMax);
}
