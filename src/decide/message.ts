import type { AgentView, CheckName } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';

/** What a person has to know to help: who, what, since when, and what to do now. */
export interface HumanText {
  title: string;
  text: string;
  whatToDo: string[];
  attach: string | null;
}

const titles: Record<CheckName, string> = {
  'waiting-human': 'waits for you',
  'silent-stop': 'stopped after an error',
  'stalled-turn': 'does not move any more',
  'ended-unexpectedly': 'ended',
  'no-answer': 'does not react',
};

export function messageFor(incident: Incident, view: AgentView | null): HumanText {
  const attach = view === null ? null : attachCommand(view);
  const since = new Date(incident.openedMs).toISOString();
  const tried = incident.prompts > 0 ? ` It was prompted ${incident.prompts} times.` : '';
  return {
    title: `${incident.agent} ${titles[incident.check]}`,
    text: `${incident.text} (since ${since}).${tried}`,
    whatToDo: [...(attach === null ? [] : [attach]), ...advice(incident), `watchkeeper ack ${incident.id}`],
    attach,
  };
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
      return [`watchkeeper events ${word(incident.agent)}`];
    case 'waiting-human':
      return [];
    default:
      return [`watchkeeper why ${word(incident.agent)}`];
  }
}
