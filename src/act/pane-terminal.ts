import { execFile } from 'node:child_process';
import type { TypableText } from '../model/text.ts';
import { type Ask, askPane, type Onlookers, type PaneNow } from './pane-facts.ts';

const answerMs = 3_000;

/** What has to hold inside the tmux server in the very moment something is typed. */
export interface TypingGuard {
  panePid: number;
  /** A shell that got the terminal back has another name than the client. */
  command: string;
  /** How the client's input box begins: while a dialog or a menu is open, it is not on the screen. */
  boxMark: string;
  /** A part of our own text, where it has to be on the screen by now; `last`: and nothing behind it in its row. */
  shows: { text: string; last: boolean } | null;
  /** Nobody came to the pane since it was looked at, and whoever was there has pressed no key. */
  onlookers: Onlookers;
  /** It only takes back what was typed: done even where nothing more may be typed. */
  takesBack?: true;
}

/** unknown: tmux did not answer, so it may or may not have been typed. */
export type Typed = 'done' | 'not-now' | 'unknown';

/** What may be done to one pane. Everything has a timeout; nothing is a shell string. */
export interface PaneTerminal {
  facts(): Promise<PaneNow | null>;
  /** Only we type here from now on; false: somebody else has it, or tmux does not say. */
  fence(): Promise<boolean>;
  /** With styles, so that hints can be told from typed text. */
  screen(): Promise<string | null>;
  paste(text: TypableText, guard: TypingGuard): Promise<Typed>;
  keys(name: string, times: number, guard: TypingGuard): Promise<Typed>;
  leaveCopyMode(): Promise<void>;
}

/** On whose behalf it is typed. */
export interface OwnPane {
  /** Asked in the moment before anything is typed or submitted; what was typed may be taken back without. */
  still: () => boolean;
  /**
   * The agent's process and the number of the hold on it: tmux keeps it as an option of the pane and compares it in the
   * instant of each key. Who takes the agent over writes another one there before doing anything: whatever the one before
   * had on its way, even out of its hands, does not get in. null: nobody types.
   */
  fence: string | null;
}

const nobodys: OwnPane = { still: () => false, fence: null };
const fenceShape = /^[0-9]+-[0-9]+-[0-9]+$/;
const option = '@watchkeeper-hold';
/** In tmux's own words, where any value could stand in it. */
const isFence = `#{m/r:^[0-9]+-[0-9]+-[0-9]+$,#{${option}}}`;

/** Sockets whose buffers of an earlier, killed daemon were looked for. */
const tidied = new Set<string>();

export function tmuxPane(socket: string, pane: string, own: OwnPane = nobodys): PaneTerminal {
  const { still, fence } = own;
  const ask: Ask = (args, input) => tmux(socket, args, input);
  const guarded = (guard: TypingGuard, command: string) => typeGuarded(ask, pane, { guard, fence }, command);
  return {
    facts: () => askPane(ask, pane),
    fence: () => raiseFence(ask, pane, own),
    screen: () => ask(['capture-pane', '-p', '-e', '-t', pane]),
    async paste(text, guard) {
      if (!tidied.has(socket)) await tidy(ask);
      tidied.add(socket);
      const buffer = `${bufferPrefix}${process.pid}-${process.hrtime.bigint()}`;
      if ((await ask(['load-buffer', '-b', buffer, '-'], text)) === null) return 'not-now';
      // `-r`: after a reset of the pane tmux leaves out the brackets, and would turn each line break into an Enter.
      const typed = !still() ? 'not-now' : await guarded(guard, `paste-buffer -p -r -d -b ${buffer} -t ${pane}`);
      if (typed !== 'done') await ask(['delete-buffer', '-b', buffer]);
      return typed;
    },
    keys: async (name, times, guard) =>
      !keyName.test(name) || (guard.takesBack !== true && !still())
        ? 'not-now'
        : guarded(guard, `send-keys -t ${pane} ${Array<string>(times).fill(name).join(' ')}`),
    async leaveCopyMode() {
      await ask(['send-keys', '-t', pane, '-X', 'cancel']);
    },
  };
}

const bufferPrefix = 'watchkeeper-';

/** A daemon killed between loading and pasting leaves its buffer behind. */
async function tidy(ask: Ask): Promise<void> {
  const names = ((await ask(['list-buffers', '-F', '#{buffer_name}'])) ?? '').split('\n');
  const left = names.filter(
    (name) => name.startsWith(bufferPrefix) && !name.startsWith(`${bufferPrefix}${process.pid}-`),
  );
  for (const name of left) await ask(['delete-buffer', '-b', name]);
}

/** Both go into a tmux format, where other characters could mean something. */
const plain = /^[\w.+ -]{1,64}$/;
/** As tmux names keys. */
const keyName = /^[A-Za-z0-9-]{1,16}$/;
/** Such as `> `. */
const markOnly = /^(?:[^\u0000-\u007f]|[ \w>%+*.!?$^()[\]|=~-]){1,8}$/;

/**
 * The last check and the deed are one command inside the tmux server, so that nothing can come between them. The
 * command holds only ids and names of our own making.
 */
async function typeGuarded(
  ask: Ask,
  pane: string,
  { guard, fence }: { guard: TypingGuard; fence: string | null },
  command: string,
): Promise<Typed> {
  const { panePid, boxMark, shows } = guard;
  if (guard.takesBack !== true && (fence === null || !fenceShape.test(fence))) return 'not-now';
  if (!plain.test(guard.command) || !markOnly.test(boxMark) || (shows !== null && !plain.test(shows.text)))
    return 'not-now';
  const { format, value } = guard.onlookers;
  const conditions = [
    `#{==:#{pane_pid},${panePid}}`,
    ...(guard.takesBack === true ? [] : [`#{==:#{${option}},${fence}}`]),
    '#{==:#{pane_dead},0}',
    '#{==:#{pane_in_mode},0}',
    '#{==:#{pane_synchronized},0}',
    `#{==:#{pane_current_command},${guard.command}}`,
    `#{==:${format},${value}}`,
    `#{C/r:${rowBegins(boxMark)}}`,
    ...(shows === null ? [] : [shows.last ? `#{C/r:${shows.text}] *$}` : `#{C:${shows.text}}`]),
  ];
  const all = conditions.reduce((rest, condition) => `#{&&:${condition},${rest}}`);
  return onlyIf(ask, pane, all, command);
}

async function onlyIf(ask: Ask, pane: string, condition: string, command: string): Promise<Typed> {
  const yes = `${command} ; display-message -p done`;
  const answer = await ask(['if-shell', '-F', '-t', pane, condition, yes, 'display-message -p not-now']);
  const said = answer?.trim();
  return said === 'done' || said === 'not-now' ? said : 'unknown';
}

/**
 * Only what was seen before the hold was looked up is replaced: had somebody taken it over since, theirs stands there by
 * now, and stays. What has not the form of one nobody of ours has written.
 */
async function raiseFence(ask: Ask, pane: string, { still, fence }: OwnPane): Promise<boolean> {
  if (fence === null || !fenceShape.test(fence)) return false;
  const seen = await ask(['display-message', '-p', '-t', pane, `#{?${isFence},#{${option}},#{?#{${option}},other,}}|`]);
  const found = seen?.trim().replace(/\|$/, '') ?? null;
  if (found === fence) return true;
  if (found === null || !still()) return false;
  const asSeen = found === 'other' ? `#{==:${isFence},0}` : `#{==:#{${option}},${found}}`;
  // One of the whole server would hide that of the pane.
  const command = `set-option -q -s -u ${option} ; set-option -p -t ${pane} ${option} ${fence}`;
  if ((await onlyIf(ask, pane, asSeen, command)) !== 'done') return false;
  return (await ask(['display-message', '-p', '-t', pane, `#{${option}}`]))?.trim() === fence;
}

/** A row of nothing but the mark has no blank at its end any more when it is searched. */
function rowBegins(mark: string): string {
  const words = mark
    .replace(/ +$/, '')
    .replace(/[>%+*.!?$^()[\]|=~-]/g, (sign) => (sign === '^' ? '\\^' : `[${sign}]`));
  return mark.endsWith(' ') ? `^${words}( |$)` : `^${words}`;
}

function tmux(socket: string, args: string[], input?: string): Promise<string | null> {
  return new Promise((resolve) => {
    const options = {
      timeout: answerMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 16 * 1024 * 1024,
      env: { PATH: process.env.PATH, TERM: 'dumb', LANG: 'C.UTF-8' },
    };
    const child = execFile('tmux', ['-u', '-N', '-S', socket, ...args], options, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}
