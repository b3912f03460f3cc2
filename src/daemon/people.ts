import { type HumanText, messageFor, whose } from '../decide/message.ts';
import { outlookOf } from '../decide/outlook.ts';
import { askedWords } from '../detect/asked.ts';
import type { Open } from '../findings/open-incident.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { Doors } from './requests/doors.ts';
import { findingDocument } from './status.ts';

/** What people have to see to, in one place for `status` and `inbox`. */
type PeopleDoors = Pick<Doors, 'board' | 'clock' | 'host' | 'userHome'>;

interface Due {
  open: Open;
  finding: Finding;
}

/** What holds all messages back makes nobody less needed. */
const heldBack: ReadonlySet<string> = new Set(['paused', 'watch-mode', 'starting']);

/** What waits for a person: they were told of it or would be told now, and nobody has acknowledged it. */
function due({ board }: Pick<Doors, 'board'>): Due[] {
  return board.open().flatMap((open) => {
    const { incident, step } = open;
    const finding = board.findings(incident.agent).find(({ id }) => id === incident.id);
    if (finding === undefined || finding.ackedMs !== null) return [];
    const isDue = step.do === 'tell' || (step.do === 'wait' && step.for === 'tell' && heldBack.has(step.reason));
    return finding.tells > 0 || isDue ? [{ open, finding }] : [];
  });
}

/** Agents that wait for a person, though not for so long yet that one is told. */
function waiting({ board }: Pick<Doors, 'board'>): AgentView[] {
  const told = new Set(due({ board }).map(({ open }) => open.incident.agent));
  const isNew = (agent: string) => !told.has(agent) && board.about(agent, 'waiting-human', null)?.ackedMs == null;
  return board.views().filter(({ agent, reading }) => reading.state === 'waiting' && isNew(agent));
}

/** By the names that messages call them by; each once, the longest wait first. */
export function neededBy(doors: Pick<Doors, 'board'>): string[] {
  const told = due(doors).map(({ open, finding }) => ({ name: whose(open.incident), sinceMs: finding.sinceMs }));
  const young = waiting(doors).map(({ agent, reading }) => ({ name: agent, sinceMs: reading.sinceMs }));
  return [...new Set([...told, ...young].sort((a, b) => a.sinceMs - b.sinceMs).map(({ name }) => name))];
}

export function inboxItems(doors: PeopleDoors) {
  return due(doors).map(({ open: { incident }, finding }) => {
    const { id, check: kind, severity, subject, since, told } = findingDocument(finding);
    const view = incident.agent === null ? null : doors.board.view(incident.agent);
    const said = messageFor(incident, view, facts(finding.sinceMs, doors));
    const name = whose(incident);
    return {
      id,
      agent: incident.agent,
      name,
      host: doors.host.name,
      kind,
      severity,
      subject,
      since,
      told,
      ...inWords(said),
    };
  });
}

export function inboxSoon(doors: PeopleDoors) {
  return waiting(doors).map((view) => {
    const { agent, project, reading } = view;
    const text = askedWords(reading.detail, view.asks);
    const about = { id: null, agent, project, check: 'waiting-human', subject: null, text, prompts: 0 } as const;
    const said = messageFor(about, view, facts(reading.sinceMs, doors));
    const since = new Date(reading.sinceMs).toISOString();
    return { agent, host: doors.host.name, kind: about.check, since, ...inWords(said) };
  });
}

/** What comes next about everything that is open at this agent. */
export function nextOf(agent: string, { board }: Pick<Doors, 'board'>) {
  const mine = board.open().filter(({ incident }) => incident.agent === agent);
  const goesOnMs = board.view(agent)?.limitedUntilMs ?? null;
  return mine.map(({ incident, step }) => {
    const isLimit = incident.check === 'rate-limited' && goesOnMs !== null;
    const { what, atMs } = isLimit ? { what: 'it goes on by itself', atMs: goesOnMs } : outlookOf(incident, step);
    return {
      check: incident.check,
      subject: incident.subject,
      at: atMs === null ? null : new Date(atMs).toISOString(),
      what,
    };
  });
}

function facts(sinceMs: number, { clock, userHome }: PeopleDoors) {
  return { sinceMs, nowMs: clock.nowMs(), home: userHome };
}

function inWords({ title, text, whatToDo }: HumanText) {
  return { text: `${title}: ${text}`, answer_with: whatToDo };
}
