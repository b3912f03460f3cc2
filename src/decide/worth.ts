import type { CheckName } from '../model/agent.ts';
import type { Ending, Verdict } from '../model/score.ts';

/**
 * Why a check may be acted on. A record is proof by itself; anything judged from the outside needs a precision of at
 * least 0.9 on runs it was not made with. What has neither is shown and recorded, and nobody acts on it.
 */
export type Ground =
  | { by: 'record'; why: string }
  | { by: 'measured'; measured: Measured }
  | { by: 'none'; why: string; measured: Measured | null };

/** As docs/reports/eval.md has it. */
interface Measured {
  /** The line of the report. */
  line: string;
  right: number;
  alarms: number;
  precision: number;
  interval: [number, number];
  /** Neither the rule nor its thresholds were made with these runs at hand. */
  untouched: boolean;
}

export const precisionMin = 0.9;

/** What a check's findings are worth: whether they may be acted on, and how it shows afterwards that they were right. */
interface Worth {
  ground: Ground;
  /** In one sentence: when it was right. What cannot be known is `unclear`, never right. */
  right: string;
  verdicts: Partial<Record<Ending, Verdict>>;
}

const anyEnding: Worth['verdicts'] = {
  'by-itself': 'right',
  'human-wrote': 'right',
  'human-interrupted': 'right',
  'human-answered': 'right',
  'human-acked': 'right',
  'prompt-helped': 'right',
  'other-prompt': 'right',
  failed: 'right',
  'agent-died': 'right',
  unseen: 'right',
};

/** What is shown as evidence is itself what the check claims: however it ends, it was so, unless a person denies it. */
function onRecord(why: string, right: string): Worth {
  return { ground: { by: 'record', why }, right, verdicts: anyEnding };
}

const lost: Worth = {
  ground: {
    by: 'none',
    why: 'the rules were written with the labelled runs at hand; all four of the family together',
    measured: { line: 'held out', right: 40, alarms: 41, precision: 0.98, interval: [0.87, 1], untouched: false },
  },
  right: 'A person stepped in. Whether an agent that went on by itself was lost, nobody knows.',
  verdicts: { 'human-wrote': 'right', 'human-interrupted': 'right' },
};

const trend: Worth = {
  ground: { by: 'none', why: 'no run is labelled for it', measured: null },
  right: lost.right,
  verdicts: lost.verdicts,
};

/** What is away and comes back: flapping is found by the endings that nobody shows to be right. */
function ofHost(why: string): Worth {
  const right = 'A person took note of it. Whether it was mended or came back by itself, nobody knows.';
  return { ground: { by: 'record', why }, right, verdicts: { 'human-acked': 'right' } };
}

const spawnVerdicts: Worth['verdicts'] = { failed: 'right', 'by-itself': 'wrong' };

/** A check does not compile until it says why it may be acted on and when it was right. */
const worths: Record<CheckName, Worth> = {
  'silent-stop': {
    ground: { by: 'record', why: "the client's own record of the error that ended the turn" },
    right: 'It took a prompt, of a rule or of a person, to set it going. Wrong: it went on by itself.',
    verdicts: { 'prompt-helped': 'right', 'human-wrote': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  'waiting-human': {
    ground: { by: 'record', why: 'the dialog, by registry, hooks or screen' },
    right: 'Somebody answered the dialog.',
    verdicts: { 'human-answered': 'right', 'human-wrote': 'right', 'human-interrupted': 'right' },
  },
  'stalled-turn': {
    ground: { by: 'record', why: "an open turn and no sign in any record for longer than the client's own timeouts" },
    right: 'A person had to interrupt it, or the turn failed. Wrong: it moved on by itself.',
    verdicts: { 'human-interrupted': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  'ended-unexpectedly': onRecord(
    'the process is gone, by the kernel',
    'The process is gone and had not been closed at its prompt.',
  ),
  'no-answer': {
    ground: { by: 'none', why: 'a slow reaction looks the same', measured: null },
    right: 'A person had to step in, or the turn failed. Wrong: it reacted late.',
    verdicts: { 'human-wrote': 'right', 'human-interrupted': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  looping: lost,
  'repeated-error': lost,
  'no-progress': lost,
  'edit-revert': lost,
  'spawn-stalled': {
    ground: { by: 'record', why: 'its output has not changed, by the file itself' },
    right: 'The work failed or was given up. Wrong: it went on or finished by itself.',
    verdicts: spawnVerdicts,
  },
  'spawn-failed': onRecord('the word of the client, or of whoever tracked it', 'It was said to have failed.'),
  'spawn-looks-failed': {
    ground: { by: 'none', why: 'a last line that reads like an error proves nothing', measured: null },
    right: 'The work failed. Wrong: it went on or finished.',
    verdicts: spawnVerdicts,
  },
  'spawn-abandoned': {
    ground: { by: 'record', why: 'its output has not changed, by the file itself' },
    right: 'The work failed or never came back. Wrong: it went on or finished by itself.',
    verdicts: spawnVerdicts,
  },
  'spawns-failing': onRecord('the words of the client, or of whoever tracked them', 'All were said to have failed.'),
  'orphaned-work': onRecord('the session it belongs to is gone', 'Its session was gone and it had not ended.'),
  'context-high': onRecord("the client's own figure", 'The figure was what the client said.'),
  'context-full': onRecord("the client's own figure", 'The figure was what the client said.'),
  'auth-failed': {
    ground: {
      by: 'record',
      why: "the client's own record of what ended the turn, or of what it is refused for again and again",
    },
    right: 'It took a person to let it go on, or it failed again. Wrong: it went on by itself.',
    verdicts: { 'human-wrote': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  'rate-limited': onRecord("the client's own record of the limit", 'The client said so.'),
  'never-started': {
    ground: { by: 'record', why: 'a living process, by the kernel, and no session in any record' },
    right: 'It ended without having begun. Wrong: it began by itself.',
    verdicts: { 'agent-died': 'right', 'by-itself': 'wrong' },
  },
  'completion-missing': {
    ground: { by: 'none', why: 'an agent may say it in other words', measured: null },
    right: 'A person had to write to it.',
    verdicts: { 'human-wrote': 'right' },
  },
  'mass-failure': onRecord('the findings of the agents', 'So many agents were in that trouble at once.'),
  repetition: trend,
  'error-acceleration': trend,
  'token-burn': trend,
  'cost-spike': trend,
  'low-cache': trend,
  'low-efficiency': trend,
  'cognitive-decay': trend,
  entropy: trend,
  'handoff-failed': onRecord('our own record of its steps', 'It had failed, and nobody had done it by hand.'),
  'control-client': ofHost("tmux's own list of its clients, and our own refusal to type"),
  'database-away': ofHost('it takes no rows, by its own answers'),
  'disk-full': ofHost('the file system says so, or the database'),
  'tmux-away': ofHost('the server does not answer'),
  flapping: onRecord('our own record of incidents', 'It had opened and closed by itself that often.'),
};

export const checkNames = Object.keys(worths) as CheckName[];

/** May anything be done about it, or is it only shown? */
export function mayBeActedOn(check: CheckName): boolean {
  const { ground } = worths[check];
  if (ground.by !== 'measured') return ground.by === 'record';
  return ground.measured.untouched && ground.measured.precision >= precisionMin;
}

export function groundOf(check: CheckName): Ground {
  return worths[check].ground;
}

export function verdictOn(check: CheckName, ending: Ending): Verdict {
  return ending === 'human-denied' ? 'wrong' : (worths[check].verdicts[ending] ?? 'unclear');
}

export function rightWhen(check: CheckName): string {
  return worths[check].right;
}
