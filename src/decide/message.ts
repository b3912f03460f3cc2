import type { AgentView, CheckName } from '../model/agent.ts';
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

const titles: Record<CheckName, string> = {
  'waiting-human': 'waits for you',
  'silent-stop': 'stopped after an error',
  'stalled-turn': 'does not move any more',
  'ended-unexpectedly': 'ended',
  'no-answer': 'does not react',
  looping: 'goes round in circles',
  'repeated-error': 'fails again and again',
  'no-progress': 'finds nothing new',
  'edit-revert': 'edits to and fro',
  'spawn-stalled': 'has background work that shows nothing new',
  'spawn-failed': 'has background work that failed',
  'spawn-looks-failed': 'has background work that seems to have failed',
  'spawn-abandoned': 'has background work that counts as abandoned',
  'spawns-failing': 'has background work of a kind that always fails',
  'orphaned-work': 'left background work behind',
  'context-high': 'has used much of its context',
  'context-full': 'has used nearly all of its context',
  'auth-failed': 'is not let in',
  'rate-limited': 'is at its limit',
  'never-started': 'has not started',
  'completion-missing': 'stopped without saying that it is done',
  'mass-failure': 'has many agents in the same trouble at once',
  repetition: 'looks at the same file over and over',
  'error-acceleration': 'fails more and more',
  'token-burn': 'spends much on nothing new',
  'cost-spike': 'has become dear',
  'low-cache': 'makes little use of the cache',
  'low-efficiency': 'takes more and more for a change',
  'cognitive-decay': 'does worse in a long context',
  entropy: 'does fewer and fewer different things',
  'handoff-failed': 'could not be handed over to a fresh context',
  'control-client': 'cannot be typed to',
  'database-away': 'has no database',
  'disk-full': 'has a full disk',
  'tmux-away': 'has a tmux server that is away',
  flapping: 'has a trouble that comes and goes',
};

export function messageFor(incident: Incident, view: AgentView | null): HumanText {
  const attach = view === null ? null : attachCommand(view);
  const since = new Date(incident.openedMs).toISOString();
  const tried =
    incident.prompts > 0 && incident.prompts < promptsSpent
      ? ` It was prompted ${counted(incident.prompts, 'time')}.`
      : '';
  return {
    title: told(shown(`${whose(incident)} ${titles[incident.check]}`)),
    text: told(shown(`${incident.text} (since ${since}).${tried}`, textCharsMax)),
    whatToDo: [...(attach === null ? [] : [attach]), ...advice(incident), `watchkeeper ack ${incident.id}`],
    attach,
  };
}

function whose({ agent, check, project, subject }: Incident): string {
  const [flaps = ''] = (subject ?? '').split(':');
  return agent ?? (isOfHost(check === 'flapping' ? flaps : check) ? `host ${project}` : `project ${project}`);
}

const ofHost: readonly string[] = ['mass-failure', 'database-away', 'disk-full', 'tmux-away'] satisfies CheckName[];

function isOfHost(check: string): boolean {
  return ofHost.includes(check);
}

/** The socket and session as words of a shell, so that they can be pasted whatever they are named. */
function attachCommand(view: AgentView): string | null {
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
