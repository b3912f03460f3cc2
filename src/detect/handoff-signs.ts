import type { SessionEvent } from '../model/session-event.ts';
import { isEmpty } from '../model/text.ts';

/** What a session's own record says that matters for handing it over, or for how it took up what was handed over. */
export interface HandoffSigns {
  /** The last end of a turn, whatever its kind, and the last one by an error of the service. */
  turnEndedMs: number | null;
  failedMs: number | null;
  /** When it last began to change or run something. */
  workedMs: number | null;
  compactedMs: number | null;
  /** When it last said or called anything. */
  repliedMs: number | null;
  /** When the client itself last began a turn, such as for work that ended in the background. */
  clientTurnMs: number | null;
  /** What was said to it, by whomever; the client's own notes left out. `command`: a command of the user's own. */
  prompts: { atMs: number; tags: readonly string[]; command: string | null }[];
  /** Commands that the client did not know. */
  unknown: { atMs: number; command: string }[];
  /** A call that names the document, by its id: read when its result is there and is no error. */
  reading: Set<string>;
  readMs: number | null;
  /** The first word or call after it had read the document. */
  wentOnMs: number | null;
}

const promptsMax = 50;
const readingMax = 20;
const working: readonly string[] = ['change', 'run', 'delegate'];

export function newHandoffSigns(): HandoffSigns {
  return {
    turnEndedMs: null,
    failedMs: null,
    workedMs: null,
    compactedMs: null,
    repliedMs: null,
    clientTurnMs: null,
    prompts: [],
    unknown: [],
    reading: new Set(),
    readMs: null,
    wentOnMs: null,
  };
}

/** Takes one event in, in place. `file`: the document's path. */
export function takeHandoffSign(signs: HandoffSigns, { fact, atMs }: SessionEvent, file: string): void {
  switch (fact.kind) {
    case 'prompt':
      if (fact.origin === 'client') {
        signs.clientTurnMs = atMs;
        return;
      }
      signs.prompts.push({ atMs, tags: fact.tags, command: fact.command ?? null });
      if (signs.prompts.length > promptsMax) signs.prompts.shift();
      return;
    case 'unknown-command':
      signs.unknown.push({ atMs, command: fact.name });
      if (signs.unknown.length > promptsMax) signs.unknown.shift();
      return;
    case 'reply':
      if (fact.ends) signs.turnEndedMs = atMs;
      signs.repliedMs = atMs;
      if (!isEmpty(fact.text)) goOn(signs, atMs);
      return;
    case 'tool-call':
      goOn(signs, atMs);
      if (names(fact.sign?.target ?? '', file)) {
        if (signs.reading.size < readingMax && fact.sign?.act !== 'change') signs.reading.add(fact.id);
        // Writing the document is no work that it should tell of.
        return;
      }
      if (working.includes(fact.sign?.act ?? 'run')) signs.workedMs = atMs;
      return;
    case 'tool-result':
      if (signs.reading.delete(fact.id) && !fact.isError) signs.readMs ??= atMs;
      return;
    case 'api-error':
      signs.failedMs = atMs;
      signs.turnEndedMs = atMs;
      return;
    case 'interrupted':
    case 'turn-end':
      signs.turnEndedMs = atMs;
      return;
    case 'compacted':
      signs.compactedMs = atMs;
      return;
    default:
      return;
  }
}

function goOn(signs: HandoffSigns, atMs: number): void {
  if (signs.readMs !== null) signs.wentOnMs ??= atMs;
}

/** A long target is recorded only in part. */
function names(target: string, file: string): boolean {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return target.includes(name) || (target.length >= 300 && file.startsWith(target));
}

/** The clock that these times are by was set. */
export function moveSigns(signs: HandoffSigns, byMs: number): void {
  for (const each of [...signs.prompts, ...signs.unknown]) each.atMs += byMs;
  for (const [name, value] of Object.entries(signs))
    if (typeof value === 'number') Object.assign(signs, { [name]: value + byMs });
}
