import { groundItems } from '../../../findings/accuracy.ts';
import { exitMeanings } from '../outcome.ts';
import { hanging, wrapped } from '../output.ts';

/** One subject in a screen. Its lines are the only place where it is said: `help` and the manual read them. */
export interface Topic {
  readonly title: string;
  readonly about: string;
  /** Words and what they mean. */
  readonly rows: readonly (readonly [word: string, meaning: string])[];
  /** What else there is to know. */
  readonly more: readonly string[];
}

type Rows = Topic['rows'];

const states: Rows = [
  ['idle', 'at its prompt, also fresh or after its context was cleared'],
  ['working/thinking', 'the model thinks or answers'],
  ['working/tool', 'a tool runs, with its name'],
  ['working/subagent', 'a subagent runs, also after the turn that began it'],
  ['working/api-stall', 'the service has not answered for some time'],
  ['waiting/permission', 'it asks whether it may do something'],
  ['waiting/question', 'it asks a question, or shows a plan'],
  ['waiting/dialog', 'a menu of its own is open'],
  ['waiting/setup', 'a screen for trust, a key or the first start is open'],
  ['retrying', 'its client tries again after an error of the service'],
  ['limited', 'at a usage limit, with the time of its reset'],
  ['compacting', 'its client makes its context smaller'],
  ['ended', 'its process is gone'],
  ['unknown', 'it lives, and nothing of it can be read; or it is suspended with Ctrl-Z'],
];

const authority: Rows = [
  ['observe', 'look and tell people; nothing is ever typed'],
  ['nudge', 'and type prompts into its input box'],
  ['manage', 'and hand its context over to a fresh one, compact it, interrupt it'],
];

const start: Rows = [
  ['first start', 'rules do nothing for two minutes (start.firstQuietSeconds)'],
  ['later starts', 'rules do nothing for ten seconds (start.quietSeconds)'],
  ['--watch-only', 'nothing is typed in this run and nobody is called, not even when you ask for it'],
  ['pause', 'nothing is done any more, at once and until `unpause`, also after a restart'],
  ['mode: watch', 'in the configuration: the same as --watch-only, for every run'],
];

const handoff: Rows = [
  ['requested', 'the end of its turn and of its background work is waited for'],
  ['prompted', 'it was asked for a document that a fresh context can go on from'],
  ['written, verified', 'the document is there and complete; a poor one is sent back once'],
  ['saved', 'a copy is in the database; only now may the context be cleared'],
  ['cleared', 'its client has begun a new session'],
  ['resumed', 'the fresh context was told where the document is'],
  ['confirmed, done', 'it read the document and went on'],
  ['failed', 'with the reason; before the clear nothing is lost'],
];

const notify: Rows = [
  ['up', 'every line of its terminal'],
  ['inbox', 'what waits for you, with the commands that answer it'],
  ['command', 'a program of yours gets the message as JSON on its standard input'],
  ['webhook', 'it is sent as POST'],
  ['ntfy, slack, discord', 'a message there'],
  ['desktop', 'a notification on this desktop'],
];

const database: Rows = [
  ['embedded', 'a PostgreSQL of its own, on a socket in the data directory, without a port'],
  ['DATABASE_URL', 'yours instead (14 or later)'],
  ['db url', 'its address, for psql'],
  ['db backup, db restore', 'everything on record into one file, and back'],
  ['db export', 'every row as a line of JSON'],
  ['uninstall --all --data', 'takes all of it away'],
];

const texts: Readonly<Record<string, () => Topic>> = {
  start: () => ({
    title: 'what happens at the start, and what keeps Watchkeeper from acting',
    about: 'A start is quiet at first, so that you can read what will be done before it is.',
    rows: start,
    more: [
      'What you ask for yourself (`prompt`, `handoff` and the like) is done at once, also while a start is quiet.',
      'A handoff that a rule had begun before goes on when the start is over.',
    ],
  }),
  states: () => ({
    title: 'what an agent is doing, as `status` shows it',
    about: 'Every word comes with its source and its age; `why AGENT` has the evidence.',
    rows: states,
    more: [],
  }),
  authority: () => ({
    title: 'whom it may type to',
    about:
      'How far Watchkeeper may go with an agent. The rules are `agents` in the configuration: the first that matches counts.',
    rows: authority,
    more: [
      'Without a configuration: manage where the tmux session is named *-ps, observe for all others.',
      '`watchkeeper authority AGENT observe` says otherwise for one agent; outside tmux it is always observe.',
    ],
  }),
  checks: () => ({
    title: 'the troubles that are looked for',
    about: 'What an agent in that trouble does, and the most that is done about it.',
    rows: groundItems().map(({ check, title, does }) => [check, `${title}; ${does}`] as const),
    more: [
      'prompts: says something to the agent, and tells you where that does not help; tells: only tells you; shows: only shows it.',
      '`watchkeeper accuracy --grounds` has what each check rests on.',
    ],
  }),
  handoff: () => ({
    title: 'handing a full context over to a fresh one',
    about: 'Only for agents that may be managed, or when you say `watchkeeper handoff AGENT`. Step by step:',
    rows: handoff,
    more: ['`watchkeeper handoffs` has every one of them, and `help authority` who may be managed.'],
  }),
  notify: () => ({
    title: 'how you are told',
    about: 'Where a message about a trouble goes; each is told once, and some again until you `ack` them.',
    rows: notify,
    more: ['`watchkeeper init --notify TYPE` adds one, and keeps it only if a test message arrives.'],
  }),
  database: () => ({
    title: 'where everything is on record',
    about: 'Whatever was seen, done and not done is in PostgreSQL.',
    rows: database,
    more: ['What only reads (`events`, `audit`, `handoffs`, `context`) works with the daemon down too.'],
  }),
  'exit-codes': () => ({
    title: 'what a command ends with',
    about: 'The same for every command, for scripts.',
    rows: Object.entries(exitMeanings),
    more: [],
  }),
};

export const topicNames = Object.keys(texts);

function topic(name: string): Topic | null {
  return Object.hasOwn(texts, name) ? (texts[name]?.() ?? null) : null;
}

export function topicText(name: string, room?: number): string | null {
  const found = topic(name);
  if (found === null) return null;
  const { title, about, rows, more } = found;
  const width = Math.max(...rows.map(([word]) => word.length));
  const lines = rows.map(([word, meaning]) => hanging([{ text: `  ${word.padEnd(width)}` }], meaning, room));
  return [
    `${name}: ${title}`,
    '',
    wrapped(about, '', room),
    '',
    ...lines,
    ...more.flatMap((text) => ['', wrapped(text, '', room)]),
  ].join('\n');
}

/** For the list of topics. */
export function topicTitles(): string {
  const width = Math.max(...topicNames.map((name) => name.length));
  return topicNames.map((name) => `  ${name.padEnd(width)}  ${topic(name)?.title ?? ''}`).join('\n');
}
