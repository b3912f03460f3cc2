import type { Found, Sighting } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { shown } from '../model/text.ts';
import type { TmuxFailure } from '../model/world.ts';

/** What Watchkeeper itself stands on, as it is at this moment. */
export interface HostSigns {
  /** Why the database takes no rows; null: it does. */
  database: string | null;
  /** Why nothing more can be written to the data directory; null: it can. */
  disk: string | null;
  servers: readonly { socket: string; failure: TmuxFailure | null }[];
}

export interface HostTrouble {
  check: CheckName;
  subject: string | null;
  text: string;
}

const namesShown = 5;

/**
 * `places`: the tmux server each agent was last seen in. A server that ended together with its agents is their trouble, and
 * told as that.
 */
export function hostTroubles(
  signs: HostSigns,
  views: readonly Sighting[],
  places: ReadonlyMap<string, string>,
): HostTrouble[] {
  const troubles: HostTrouble[] = [];
  const { database, disk, servers } = signs;
  if (database !== null)
    troubles.push({
      check: 'database-away',
      subject: null,
      text: `the database takes no rows: ${shown(database, 300)}; they wait`,
    });
  if (disk !== null)
    troubles.push({ check: 'disk-full', subject: null, text: `nothing more can be stored: ${shown(disk, 300)}` });
  const living = views.filter(({ reading }) => reading.state !== 'ended');
  for (const socket of new Set(places.values())) {
    const inside = living.filter((view) => places.get(view.agent) === socket);
    const server = servers.find((one) => one.socket === socket);
    const hangs = server?.failure === 'hung';
    // Gone: only those that go on without it.
    const lost = hangs ? inside : inside.filter(({ tmux }) => tmux === null);
    if (lost.length === 0 || server?.failure === null) continue;
    const names = lost
      .slice(0, namesShown)
      .map(({ agent }) => agent)
      .join(', ');
    const more = lost.length > namesShown ? ` and ${lost.length - namesShown} more` : '';
    const what = hangs ? 'does not answer' : 'is gone';
    troubles.push({
      check: 'tmux-away',
      subject: socket,
      text: `the tmux server ${shown(socket, 200)} ${what}; its agents go on and cannot be typed to: ${names}${more}`,
    });
  }
  return troubles;
}

export function findingOf({ check, subject, text }: HostTrouble, sinceMs: number): Found {
  return {
    check,
    subject,
    severity: 'critical',
    confidence: 1,
    sinceMs,
    evidence: [{ source: 'watchkeeper', atMs: sinceMs, text }],
    action: null,
    slots: null,
  };
}
