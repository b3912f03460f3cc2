import type { DeedReason } from '../../model/action.ts';
import { askDaemon } from './daemon.ts';
import { ago, when } from './output.ts';

/** Why nothing was done, and what would help. `level`: the authority it takes. */
export async function refusalText(reason: string, agent: string, level: 'nudge' | 'manage'): Promise<string> {
  const ended = gone.includes(reason) ? await endedText(agent) : null;
  if (ended !== null) return `${reason} (${ended})`;
  const help = reason === 'authority' ? `\`watchkeeper authority ${agent} ${level}\` allows it` : wayOut(reason);
  return help === undefined ? reason : `${reason} (${help})`;
}

/** What is said of one that is not there any more. */
const gone = ['not-agent', 'pane-dead', 'ended'];

/** null: it lives. */
async function endedText(agent: string): Promise<string | null> {
  const status = await askDaemon('status', {}).catch(() => null);
  const since = status?.agents.find((each) => each.agent === agent && each.state === 'ended')?.since;
  return since === undefined ? null : `it ended ${ago(Date.parse(since), Date.now())} ago, at ${when(since)}`;
}

function wayOut(reason: string): string | undefined {
  return Object.hasOwn(waysOut, reason) ? waysOut[reason as keyof typeof waysOut] : undefined;
}

/** Those that need no more words have none. */
const waysOut: Record<
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
  unsure: 'without its registry it is spoken to only with hooks: `watchkeeper init`',
  'not-agent': 'something else has its terminal, such as a shell, or one around it such as `script`',
  'pane-dead': 'its pane is dead',
  'pane-mode': 'somebody scrolls or chooses in its pane: leave that mode',
  synchronized: 'its window types into all panes at once: `tmux set -w synchronize-panes off`',
  'human-typing': 'somebody was typing a moment ago: try again, or --wait',
  'control-client':
    'a terminal in control mode (`tmux -CC`) shows it, where typing cannot be seen: detach it, or attach it read-only',
  draft: 'there is a text in its box that cannot be put aside',
  paused: '`watchkeeper unpause` ends it',
  'watch-mode': '`mode: watch` in the configuration only records',
  'held-elsewhere': 'another Watchkeeper has it: `watchkeeper status` says which one; ask there',
  'no-hold': 'whether another Watchkeeper has it cannot be known: see `watchkeeper doctor`',
  'unsafe-text': 'no leading ! or /, no trailing \\, no control characters',
  untrusted:
    'the database has an open one of it that Watchkeeper did not write so: it ends once a person was told, see `watchkeeper inbox`',
  'unsafe-path':
    'the path of its document cannot be typed safely: set `handoff.dir` to one of letters, figures and . _ / + : -',
  'no-ledger': 'the database does not take the record: see `watchkeeper doctor`',
  'no-input-box': 'its input box is not on the screen',
  busy: 'it is not at its prompt: try again when it is idle',
  'not-working': 'no turn of it runs',
  stale: 'it changed while it was looked at: try again',
  'context-full': 'more is used than leaves room for new work: `watchkeeper handoff` first, or --anyway',
  'unknown-command': 'the client has no such command',
  'no-permission-hook': 'it asks before it writes: `watchkeeper init` has a hook that answers for its document',
  'went-on': 'it has begun what was queued for it',
  'no-record': 'its turn is over, but its record does not say so: its prompt may be back in its box',
  'no-proof': 'its record does not show it: look at its terminal',
  'left-in-box': 'its text still stands in its box, not submitted',
  'daemon-restarted': 'the daemon ended meanwhile',
  ended: 'it has ended',
  unknown: 'its state, session or directory cannot be read',
};
