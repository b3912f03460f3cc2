import type { PaneFacts } from '../model/delivery.ts';

export type Ask = (args: string[], input?: string) => Promise<string | null>;

/**
 * Who is at a pane, as a format that tmux compares with its value in the very moment something is typed. Only ids and
 * numbers are in it.
 */
export interface Onlookers {
  format: string;
  value: string;
}

export interface PaneNow extends PaneFacts {
  /** tmux's name for the program in the foreground. */
  command: string;
  onlookers: Onlookers;
}

const names = [
  'pane_pid',
  'pane_dead',
  'pane_synchronized',
  'pane_id',
  'window_id',
  'pane_active',
  'window_active_clients',
  'pane_mode',
  'pane_current_command',
];
const ofClient = [
  'client_control_mode',
  'client_readonly',
  'client_flags',
  'client_activity',
  'session_id',
  'window_id',
  'pane_id',
];
/** `window_active`: it is the one that this session shows. */
const ofSession = ['session_id', 'session_attached', 'session_activity', 'window_active'];

interface Client {
  control: boolean;
  readOnly: boolean;
  /** It has an active pane of its own, which tmux does not tell. */
  ownPane: boolean;
  activity: number;
  session: string;
  window: string;
  pane: string;
}

/** A session that has the pane's window, as its own, linked or by its group. */
interface Session {
  id: string;
  attached: string;
  activity: string;
  shows: boolean;
}

/** Everything about a pane and whoever is at it, from one moment of the server. */
export async function askPane(ask: Ask, pane: string): Promise<PaneNow | null> {
  const answer = await ask([
    ...['display-message', '-p', '-t', pane, row('pane', names), ';'],
    ...['list-panes', '-a', '-f', `#{==:#{pane_id},${pane}}`, '-F', row('session', ofSession), ';'],
    ...['list-clients', '-F', row('client', ofClient)],
  ]);
  const rows = (answer ?? '').split('\n').map((line) => line.split('\t'));
  const of = (kind: string) => rows.filter(([first]) => first === kind).map(([, ...fields]) => fields);
  const [pid, dead, synchronized, id, window = '', active, viewers, mode, command] = of('pane')[0] ?? [];
  if (id !== pane) return null;
  const sessions = of('session').map(toSession);
  const clients = of('client').map(toClient);
  // In control mode every pane of the session can be seen and typed into, whichever is active.
  const controls = clients.filter(({ control, readOnly }) => control && !readOnly);
  const people = clients.filter(
    (client) => !client.control && (client.pane === pane || (client.ownPane && client.window === window)),
  );
  const ownPanes = people.some(({ ownPane }) => ownPane);
  return {
    pid: Number(pid),
    dead: dead === '1',
    synchronized: synchronized === '1',
    mode: mode ?? '',
    command: command ?? '',
    // Whole seconds, rounded down: the key may have come at the end of one.
    people: people.map(({ activity }) => ({ activeAtMs: (activity + 1) * 1000 })),
    controlled: controls.some(({ session }) => sessions.some((own) => own.id === session)),
    onlookers: onlookers(window, active === '1' || ownPanes, `${active}.${viewers}`, sessions),
  };
}

/**
 * The activity of a session is that of its clients. It counts only where their keys go to this pane: while another pane of
 * the window has them, it would be somebody's work there.
 */
function onlookers(window: string, keysGoHere: boolean, paneState: string, sessions: Session[]): Onlookers {
  const parts = sessions.map(({ id, attached, activity, shows }) => {
    const isCounted = shows && keysGoHere;
    const state = `#{session_attached}.#{==:#{window_id},${window}}${isCounted ? '.#{session_activity}' : ''}`;
    return {
      format: `#{S:#{?#{==:#{session_id},${id}},${state},}}`,
      value: `${attached}.${shows ? 1 : 0}${isCounted ? `.${activity}` : ''}`,
    };
  });
  return {
    format: [
      '#{window_linked_sessions}',
      '#{pane_active}.#{window_active_clients}',
      ...parts.map(({ format }) => format),
    ].join('|'),
    value: [`${sessions.length}`, paneState, ...parts.map(({ value }) => value)].join('|'),
  };
}

/** Names, which may hold anything but a tab, are never asked for. */
function row(kind: string, fields: string[]): string {
  return [kind, ...fields.map((name) => `#{${name}}`)].join('\t');
}

function toClient([control, readOnly, flags = '', activity, session = '', window = '', pane = '']: string[]): Client {
  const ownPane = flags.split(',').includes('active-pane');
  return {
    control: control === '1',
    readOnly: readOnly === '1',
    ownPane,
    activity: Number(activity),
    session,
    window,
    pane,
  };
}

function toSession([id = '', attached = '', activity = '', active]: string[]): Session {
  return { id, attached, activity, shows: active === '1' };
}
