import { resumeCommand } from '../clients/clients.ts';
import { checkCalled, definitionOf } from '../detect/checks.ts';
import type { Sighting } from '../model/agent.ts';
import { allows } from '../model/authority.ts';
import { counted } from '../model/count.ts';
import { told } from '../model/evidence.ts';
import type { Incident } from '../model/incident.ts';
import { shown } from '../model/text.ts';
import { promptsSpent } from './policy.ts';

/** What a person has to know to help: who, what, since when, and what to do now. The inbox, every channel and the terminal say this. */
export interface HumanText {
  title: string;
  text: string;
  whatToDo: string[];
  attach: string | null;
}

export interface MessageFacts {
  /** Since when it is so, not since when it was found. */
  sinceMs: number;
  nowMs: number;
  /** The user's home directory; null: nobody knows. */
  home: string | null;
}

/** What a message is about: a trouble on record, or one that is still too young for that. */
export type MessageAbout = Pick<Incident, 'agent' | 'project' | 'check' | 'subject' | 'text' | 'prompts'> & {
  /** null: there is nothing yet to acknowledge. */
  id: string | null;
};

const textCharsMax = 4_000;
const commandCharsMax = 500;

export function messageFor(
  about: MessageAbout,
  view: Sighting | null,
  { sinceMs, nowMs, home }: MessageFacts,
): HumanText {
  const attach = view === null ? null : attachCommand(view);
  const { prompts, id } = about;
  const tried = prompts > 0 && prompts < promptsSpent ? ` It was prompted ${counted(prompts, 'time')}.` : '';
  const commands = [
    ...(attach === null ? [] : [attach]),
    ...advice(about, view, home),
    ...(id === null ? [] : [`watchkeeper ack ${id}`]),
  ];
  return {
    title: told(shown(`${whose(about)} ${definitionOf(about.check).title}`)),
    text: told(shown(`${about.text} (${sinceText(about, sinceMs, nowMs)}).${tried}${placeText(view)}`, textCharsMax)),
    whatToDo: [...new Set(commands)],
    attach,
  };
}

/** As people call it: never nothing. */
export function whose({
  agent,
  check,
  project,
  subject,
}: Pick<MessageAbout, 'agent' | 'check' | 'project' | 'subject'>): string {
  const about = check === 'flapping' ? checkCalled((subject ?? '').split(':')[0] ?? '') : check;
  const isOfHost = about !== null && definitionOf(about).about === 'host';
  return agent ?? (isOfHost ? `host ${project}` : `project ${project}`);
}

function sinceText({ check }: MessageAbout, sinceMs: number, nowMs: number): string {
  const age = duration(nowMs - sinceMs);
  const at = new Date(sinceMs).toISOString();
  return check === 'ended-unexpectedly' ? `${age} ago, at ${at}` : `for ${age}, since ${at}`;
}

/** "27 s", "2 min 27 s", "1 h 5 min", "2 d 3 h". */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)];
  const both = (large: string, small: number, unit: string) => (small === 0 ? large : `${large} ${small} ${unit}`);
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return both(`${minutes} min`, seconds % 60, 's');
  if (hours < 24) return both(`${hours} h`, minutes % 60, 'min');
  return both(`${Math.floor(hours / 24)} d`, hours % 24, 'h');
}

/** Of one outside tmux there is no command that shows it. */
function placeText(view: Sighting | null): string {
  if (view === null || view.tmux !== null || view.reading.state === 'ended') return '';
  const where = view.cwd === null ? '' : ` in ${view.cwd}`;
  return ` It is not in tmux: go to its own terminal (pid ${view.process.pid}${where}).`;
}

/** The socket and session as words of a shell, so that they can be pasted whatever they are named. */
function attachCommand(view: Sighting): string | null {
  const { tmux } = view;
  return tmux === null || view.reading.state === 'ended'
    ? null
    : `tmux -S ${word(tmux.socket)} attach -t ${word(`=${tmux.session}:`)}`;
}

/** Shows its screen in any terminal, and touches nothing. */
function screenCommand({ tmux, reading }: Sighting): string[] {
  return tmux === null || reading.state === 'ended'
    ? []
    : [`tmux -S ${word(tmux.socket)} capture-pane -p -t ${word(tmux.pane)}`];
}

/** How a person goes on with the session of an agent that ended, from any directory; null: there is none, or nobody knows how. */
export function goOnCommand(view: Sighting, home: string | null): string | null {
  const { client, cwd, sessionId, transcript, model } = view;
  // Of a session in which nothing was said there is no record to go on from.
  if (cwd === null || sessionId === null || (transcript === null && model === null)) return null;
  const command = resumeCommand(client, { sessionId, record: transcript, home });
  if (command === null) return null;
  const variables = Object.entries(command.variables).map(([name, value]) => `${name}=${word(value)}`);
  const text = `cd ${word(cwd)} && ${[...variables, ...command.argv.map(word)].join(' ')}`;
  // One that cannot be shown as it is, for its length, a letter that does not print or a secret in it, would be another command.
  return text.length > commandCharsMax || shown(text, commandCharsMax) !== text ? null : text;
}

function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function advice(about: MessageAbout, view: Sighting | null, home: string | null): string[] {
  const { agent, check, project } = about;
  const ofAgent = (...commands: string[]) =>
    agent === null ? [] : commands.map((each) => `watchkeeper ${each} ${word(agent)}`);
  switch (check) {
    case 'ended-unexpectedly': {
      const goOn = view === null ? null : goOnCommand(view, home);
      return [...(goOn === null ? [] : [goOn]), ...ofAgent('events')];
    }
    case 'waiting-human':
      return view === null ? [] : screenCommand(view);
    case 'silent-stop':
    case 'stalled-turn':
    case 'no-answer':
      return [
        ...promptCommand(agent, view, check === 'silent-stop' ? 'continue' : 'How far are you?'),
        ...ofAgent('why'),
      ];
    case 'mass-failure':
    case 'database-away':
    case 'disk-full':
    case 'tmux-away':
      return ['watchkeeper status', 'watchkeeper doctor'];
    case 'handoff-failed':
      return ofAgent('handoffs');
    case 'context-high':
    case 'context-full': {
      const mayBe = view !== null && allows(view.authority, 'manage');
      const allow = agent === null || mayBe ? [] : [`watchkeeper authority ${word(agent)} manage`];
      return [...allow, ...ofAgent('handoff', 'context')];
    }
    case 'spawn-stalled':
    case 'spawn-failed':
    case 'spawn-abandoned':
    case 'orphaned-work':
      return [`watchkeeper spawn-track list --all --project ${word(project)}`];
    default:
      return ofAgent('why');
  }
}

function promptCommand(agent: string | null, view: Sighting | null, text: string): string[] {
  if (agent === null || view === null || view.reading.state === 'ended') return [];
  const allow = allows(view.authority, 'nudge') ? [] : [`watchkeeper authority ${word(agent)} nudge`];
  return [...allow, `watchkeeper prompt ${word(agent)} ${word(text)}`];
}
