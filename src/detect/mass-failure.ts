import type { AgentView, Found } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { isAuthError } from './checks/auth-failed.ts';
import { definitionOf } from './checks.ts';

export interface MassLimits {
  /** So many agents… */
  agents: number;
  /** …and so many percent of all… */
  percent: number;
  /** …within this time. */
  withinMs: number;
}

/** Many agents in the same trouble at once: one trouble of the host, not of each of them. */
export interface MassFailure {
  check: CheckName;
  agents: string[];
  finding: Found;
}

const namesShown = 5;

interface Member {
  agent: string;
  sinceMs: number;
}

/**
 * Whether a check's trouble may be a whole host's: tmux, the network, the account, the service. Waiting for a person or a full
 * context are each agent's own; at its limit each one waits by itself.
 */
export function isShared(check: CheckName): boolean {
  return definitionOf(check).isShared === true;
}

/** Pure and level-triggered: it stands as long as enough of them are in that trouble. */
export function massFailures(views: readonly AgentView[], limits: MassLimits): MassFailure[] {
  const troubles = new Map<string, { check: CheckName; kind: string | null; members: Member[] }>();
  for (const view of views) {
    const own = view.findings.filter(
      ({ check, subject, standing }) =>
        isShared(check) && subject === null && (standing === 'seen' || standing === 'kept'),
    );
    // One trouble of an agent is counted once, by the more exact name.
    const { check: found, sinceMs } = own.find((finding) => finding.check === 'auth-failed') ?? own[0] ?? {};
    if (found === undefined || sinceMs === undefined) continue;
    const check = found === 'silent-stop' && isAuthError(view.errorKind) ? 'auth-failed' : found;
    const kind = check === 'silent-stop' ? view.errorKind : null;
    const name = `${check}\n${kind}`;
    const trouble = troubles.get(name) ?? { check, kind, members: [] };
    trouble.members.push({ agent: view.agent, sinceMs });
    troubles.set(name, trouble);
  }
  const living = views.filter(({ reading }) => reading.state !== 'ended').length;
  return [...troubles.values()].flatMap(({ check, kind, members }) => {
    const together = atOnce(members, limits);
    const all = living + (check === 'ended-unexpectedly' ? together.length : 0);
    const [first] = together;
    if (first === undefined || together.length * 100 < limits.percent * all) return [];
    return [
      { check, agents: together.map(({ agent }) => agent), finding: findingOf(check, kind, together, first, all) },
    ];
  });
}

/** Those whose trouble began within the given time of at least so many others'. */
function atOnce(members: Member[], { agents, withinMs }: MassLimits): Member[] {
  const sorted = members.toSorted((a, b) => a.sinceMs - b.sinceMs || a.agent.localeCompare(b.agent));
  const together = new Set<Member>();
  let from = 0;
  for (const [to, { sinceMs }] of sorted.entries()) {
    while (sinceMs - (sorted[from]?.sinceMs ?? sinceMs) > withinMs) from += 1;
    if (to - from + 1 >= agents) for (const member of sorted.slice(from, to + 1)) together.add(member);
  }
  return sorted.filter((member) => together.has(member));
}

function findingOf(check: CheckName, kind: string | null, together: Member[], first: Member, all: number): Found {
  const names = together.slice(0, namesShown).map(({ agent }) => agent);
  const more = together.length > namesShown ? ` and ${together.length - namesShown} more` : '';
  const what = kind === null ? check : `${check} (${kind})`;
  return {
    check: 'mass-failure',
    subject: what,
    severity: 'critical',
    confidence: 0.9,
    sinceMs: first.sinceMs,
    evidence: [
      {
        source: 'process',
        atMs: first.sinceMs,
        text: `${together.length} of ${all} agents at once: ${what}: ${names.join(', ')}${more}`,
      },
    ],
    action: null,
    slots: null,
  };
}
