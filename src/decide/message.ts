import { checkCalled, definitionOf } from '../detect/checks.ts';
import type { Sighting } from '../model/agent.ts';
import { counted } from '../model/count.ts';
import { told } from '../model/evidence.ts';
import type { Incident } from '../model/incident.ts';
import { shown } from '../model/text.ts';
import { promptsSpent } from './policy.ts';

/** What a person has to know to help: who, what, since when, and what to do now. */
export interface HumanText {
  title: string;
  text: string;
  whatToDo: string[];
  attach: string | null;
}

const textCharsMax = 4_000;

/** `sinceMs`: since when it is so. */
export function messageFor(incident: Incident, view: Sighting | null, sinceMs: number): HumanText {
  const attach = view === null ? null : attachCommand(view);
  const since = new Date(sinceMs).toISOString();
  const tried =
    incident.prompts > 0 && incident.prompts < promptsSpent
      ? ` It was prompted ${counted(incident.prompts, 'time')}.`
      : '';
  return {
    title: told(shown(`${whose(incident)} ${definitionOf(incident.check).title}`)),
    text: told(shown(`${incident.text} (since ${since}).${tried}`, textCharsMax)),
    whatToDo: [...(attach === null ? [] : [attach]), ...advice(incident), `watchkeeper ack ${incident.id}`],
    attach,
  };
}

function whose({ agent, check, project, subject }: Incident): string {
  const about = check === 'flapping' ? checkCalled((subject ?? '').split(':')[0] ?? '') : check;
  const isOfHost = about !== null && definitionOf(about).about === 'host';
  return agent ?? (isOfHost ? `host ${project}` : `project ${project}`);
}

/** The socket and session as words of a shell, so that they can be pasted whatever they are named. */
function attachCommand(view: Sighting): string | null {
  const { tmux } = view;
  return tmux === null || view.reading.state === 'ended'
    ? null
    : `tmux -S ${word(tmux.socket)} attach -t ${word(`=${tmux.session}:`)}`;
}

function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function advice(incident: Incident): string[] {
  switch (incident.check) {
    case 'ended-unexpectedly':
      return incident.agent === null ? [] : [`watchkeeper events ${word(incident.agent)}`];
    case 'waiting-human':
      return [];
    case 'mass-failure':
    case 'database-away':
    case 'disk-full':
    case 'tmux-away':
      return ['watchkeeper status', 'watchkeeper doctor'];
    case 'handoff-failed':
      return incident.agent === null ? [] : [`watchkeeper handoffs ${word(incident.agent)}`];
    case 'context-high':
    case 'context-full':
      return incident.agent === null ? [] : [`watchkeeper context ${word(incident.agent)}`];
    case 'spawn-stalled':
    case 'spawn-failed':
    case 'spawn-abandoned':
    case 'orphaned-work':
      return [`watchkeeper spawn-track list --all --project ${word(incident.project)}`];
    default:
      return incident.agent === null ? [] : [`watchkeeper why ${word(incident.agent)}`];
  }
}
