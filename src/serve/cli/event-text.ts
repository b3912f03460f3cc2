import { counted } from '../../model/count.ts';
import { wholePercent } from '../../model/percent.ts';
import { shown } from '../../model/text.ts';
import { line, tokens, when, words } from './output.ts';

type Data = { [key: string]: unknown };

export interface EventLine {
  at: string | number;
  agent: string;
  source: string;
  kind: string;
  data: Data;
}

/** An event as a line for people, with what is worth knowing of it; --json has all there is. */
export function eventText(event: EventLine): string {
  return line(`${when(event.at)}  ${eventWords(event)}`);
}

/** Without its time. */
export function eventWords({ agent, source, kind, data }: Omit<EventLine, 'at'>): string {
  const what = known[kind]?.(data, source) ?? words(data);
  return `${agent}  ${kind}  ${what}`.trimEnd();
}

const known: Record<string, (data: Data, source: string) => string> = {
  state: ({ from, state, detail, tool, confidence }, source) =>
    `${word(from) || 'new'} → ${[state, detail].map(word).filter(Boolean).join('/')}${tool ? ` ${word(tool)}` : ''}` +
    `  (${source}, ${word(confidence)})`,
  agent: ({ client, pid, tmux }) => {
    const { session, pane } = (tmux ?? {}) as Data;
    return `${word(client)}, pid ${word(pid)}, ${tmux === null || tmux === undefined ? 'outside tmux' : `tmux session ${word(session)}, pane ${word(pane)}`}`;
  },
  prompt: ({ origin, chars, command, tags }) =>
    [word(origin), word(command), characters(chars), tagsText(tags)].filter(Boolean).join(', '),
  queued: ({ chars, tags }) => [characters(chars), tagsText(tags)].filter(Boolean).join(', '),
  reply: ({ model, usage, ends }) => {
    const { input = 0, cacheRead = 0, cacheCreate = 0, output = 0 } = (usage ?? {}) as Record<string, number>;
    const read =
      usage === null || usage === undefined
        ? ''
        : `, ${tokens(input + cacheRead + cacheCreate)} tokens in, ${tokens(output)} out`;
    return `${word(model)}${read}${ends === true ? ', ends the turn' : ''}`;
  },
  'tool-call': ({ tool }) => word(tool),
  'tool-result': ({ isError, started }) => {
    const { kind, id } = (started ?? {}) as Data;
    return `${isError === true ? 'an error' : 'ok'}${kind === undefined ? '' : `, started ${word(kind)} ${word(id)}`}`;
  },
  'turn-end': ({ durationMs, pendingSubagents }) =>
    [
      typeof durationMs === 'number' ? `after ${Math.round(durationMs / 100) / 10} s` : '',
      typeof pendingSubagents === 'number' && pendingSubagents > 0
        ? `${counted(pendingSubagents, 'subagent')} running`
        : '',
    ]
      .filter(Boolean)
      .join(', '),
  'api-error': ({ error, status, text }) => `${word(error)}${status ? ` (${word(status)})` : ''}: ${word(text)}`,
  retry: ({ attempt, attemptsMax, status }) =>
    `${word(attempt)} of ${word(attemptsMax)}${status ? ` (${word(status)})` : ''}`,
  compacted: ({ trigger, tokensBefore, tokensAfter }) =>
    `${word(trigger)}${typeof tokensBefore === 'number' ? `, from ${tokens(tokensBefore)}` : ''}` +
    (typeof tokensAfter === 'number' ? ` to ${tokens(tokensAfter)}` : ''),
  band: ({ band, from, percent, used, window }) =>
    `${from ? `${word(from)} → ` : ''}${word(band) || 'unknown'}` +
    (typeof used === 'number' && typeof window === 'number'
      ? `, ${wholePercent(Number(percent))}% used, ${tokens(used)} of ${tokens(window)}`
      : ''),
};

function word(value: unknown): string {
  return value === null || value === undefined ? '' : shown(String(value), 200);
}

function characters(chars: unknown): string {
  return typeof chars === 'number' ? counted(chars, 'character') : '';
}

function tagsText(tags: unknown): string {
  return Array.isArray(tags) ? tags.map((tag) => `[${word(tag)}]`).join(' ') : '';
}
