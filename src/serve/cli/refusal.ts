import type { DeedReason } from '../../model/action.ts';
import { askDaemon } from './daemon.ts';
import { ago, commandLine, when } from './output.ts';

/** Why nothing was done, and what would help; below it perhaps a command. `level`: the authority it takes. */
export async function refusalText(reason: string, agent: string, level: 'nudge' | 'manage'): Promise<string> {
  const ended = gone.includes(reason) ? await endedText(agent) : null;
  if (ended !== null) return ended;
  const help = reason === 'authority' ? `\`watchkeeper authority ${agent} ${level}\` allows it` : wayOut(reason);
  return help === undefined ? reason : `${reason} (${help})`;
}

/** What is said of one that is not there any more. */
const gone = ['not-agent', 'pane-dead', 'ended'];

/** null: it lives. */
async function endedText(agent: string): Promise<string | null> {
  const status = await askDaemon('status', {}).catch(() => null);
  const found = status?.agents.find((each) => each.agent === agent && each.state === 'ended');
  if (found === undefined) return null;
  const { since, resume } = found;
  const ended = `it ended ${ago(Date.parse(since), Date.now())} ago, at ${when(since)}`;
  return resume === null ? ended : `${ended}; this goes on with its session:\n${commandLine(resume)}`;
}

function wayOut(reason: string): string | undefined {
  return Object.hasOwn(refusalHelp, reason) ? refusalHelp[reason as keyof typeof refusalHelp] : undefined;
}

/**
 * Those that need no more words have none.
 * @public The manual lists them: `npm run docs`.
 */
export const refusalHelp: Record<
  | Exclude<DeedReason, 'authority' | 'not-stored' | 'inbox-only' | 'proved-late'>
  | 'ended'
  | 'unknown'
  | 'no-permission-hook'
  | 'unsafe-path'
  | 'untrusted',
  string
> = {
  'waiting-permission': 'it asks for a permission: answer it in its terminal',
  'waiting-question': 'it asks a question: answer it in its terminal',
  'waiting-setup': 'it is being set up: go on in its terminal',
  unsure: 'without hooks its state is not certain enough to type: `watchkeeper init` adds them',
  'not-agent': 'something else reads from its terminal, such as a shell or `script`',
  'pane-dead': 'no process runs in its pane any more',
  'pane-mode': 'its pane is in a mode of tmux, such as a menu: leave that mode',
  synchronized: 'its window types into all panes at once: `tmux set -w synchronize-panes off`',
  'human-typing': 'somebody typed a moment ago: try again, or use --wait',
  'control-client':
    'a terminal in control mode (`tmux -CC`) shows it, where typing cannot be seen: detach it, or attach it read-only',
  draft: 'its input box holds a text that cannot be put aside: submit or delete it',
  paused: '`watchkeeper unpause` ends it',
  'watch-mode': '`mode: watch` in the configuration only records',
  starting: 'rules do nothing so soon after a start: `watchkeeper status` says until when',
  'held-elsewhere': 'another Watchkeeper looks after it: `watchkeeper status` says which one; ask there',
  'no-hold': 'nobody can tell whether another Watchkeeper looks after it: see `watchkeeper doctor`',
  'unsafe-text': 'a text may not begin with ! or /, end with \\, or hold control characters',
  untrusted:
    'the database has an open one of it that Watchkeeper did not write so: it ends once a person was told, see `watchkeeper inbox`',
  'unsafe-path':
    'the path of its document cannot be typed safely: set `handoff.dir` to one of letters, figures and . _ / + : -',
  'no-ledger': 'the database does not store the record: see `watchkeeper doctor`',
  'no-input-box': 'its input box is not on the screen',
  busy: 'it is not at its prompt: try again when it is idle',
  'not-working': 'it has no turn to interrupt',
  stale: 'it changed while it was looked at: try again',
  'context-full': 'its context is too full for new work: `watchkeeper handoff` first, or --anyway',
  'unknown-command': 'the client has no such command',
  'no-permission-hook': 'it asks before it writes: `watchkeeper init` has a hook that answers for its document',
  'went-on': 'it has begun what was queued for it',
  'no-record': 'its turn is over, but its record does not show the interruption: the prompt may be back in its box',
  'no-proof': 'its record does not show it: look at its terminal',
  'left-in-box': 'its text still stands in its box, not submitted',
  'daemon-restarted': 'the daemon ended before the outcome was known',
  ended: 'it has ended',
  unknown: 'its state, session or directory cannot be read',
};
