import { changesWork, errorWords, isPlainWord, isSaidError, quoted } from '../model/evidence.ts';
import { whyUnsafe } from './prompt-text.ts';

/**
 * What rules say to agents: fixed words, of seeds 000 and 001 or of the machine's configuration, with evidence in
 * slots. Evidence comes from agents and their files, so a slot takes only what its kind allows: it cannot be an order,
 * attach a file, make the text a command of the client, or mean anything to a shell should one be beneath.
 */
export type TemplateName =
  | 'spawn-update'
  | 'spawn-stalled'
  | 'spawn-failed'
  | 'spawn-abandoned'
  | 'context-check'
  | 'high-context'
  | 'handoff'
  | 'handoff-again'
  | 'handoff-resume'
  | 'continue'
  | 'stalled';

export type Slot =
  | 'task'
  | 'minutes'
  | 'output'
  | 'percent'
  | 'file'
  | 'error'
  | 'activity'
  | 'why'
  | 'nonce'
  | 'background'
  | 'problems';

interface Template {
  /** Its name in the configuration. */
  key: string;
  slots: readonly Slot[];
  /** Without these the agent could not do what it is asked. */
  needs: readonly Slot[];
  text: string;
}

// One line each, no `;`, `$`, `|`, `&`, `<`, `>`, quote or backtick: harmless words also to a shell.
const templates = {
  'spawn-update': {
    key: 'spawnUpdate',
    slots: [],
    needs: [],
    text: 'Please check the status of your active spawns and give a brief progress update.',
  },
  'spawn-stalled': {
    key: 'spawnStalled',
    slots: ['task', 'minutes', 'output'],
    needs: [],
    text: 'Spawn {task} has not produced output for {minutes} minutes (output file {output}). Please investigate and report in a few lines.',
  },
  'spawn-failed': {
    key: 'spawnFailed',
    slots: ['task', 'error', 'output'],
    needs: [],
    text: 'Spawn {task} has failed ({error}, output file {output}). Please find out why, decide what to do about it and report in a few lines.',
  },
  'spawn-abandoned': {
    key: 'spawnAbandoned',
    slots: ['task', 'minutes', 'output'],
    needs: [],
    text: 'Spawn {task} has shown no sign of life for {minutes} minutes and counts as abandoned (output file {output}). Please stop waiting for it, stop or start it again as needed, and report in a few lines.',
  },
  'context-check': {
    key: 'contextCheck',
    slots: [],
    needs: [],
    text: 'Please report your current context window usage from the system warnings, in one line of the form Context: P% (USED/WINDOW tokens).',
  },
  'high-context': {
    key: 'highContext',
    slots: ['percent'],
    needs: [],
    text: 'Your context window is {percent}% full. Please take on small tasks only, and create a handoff document after the current work.',
  },
  handoff: {
    key: 'handoff',
    slots: ['why', 'file', 'nonce', 'background'],
    needs: ['file', 'nonce'],
    text: 'Please write a handoff document now ({why}), to the file {file}, so that a fresh context can go on from it alone, and start nothing new. Give it these headings, with text under each: Goal, State, Decisions, Next step, Open files, Background work (by id, running now: {background}), How to verify, Git HEAD (the commit id), Nonce ({nonce}). Decisions, Open files and Background work may be none, and Git HEAD where there is no repository. End your turn when it is written.',
  },
  'handoff-again': {
    key: 'handoffAgain',
    slots: ['problems', 'file', 'nonce'],
    needs: ['problems', 'file', 'nonce'],
    text: 'The handoff document {file} is not good yet: {problems}. Please write the whole document again to that file, with text under each of the headings Goal, State, Decisions, Next step, Open files, Background work, How to verify, Git HEAD and Nonce ({nonce}), start nothing new and end your turn when it is written.',
  },
  'handoff-resume': {
    key: 'handoffResume',
    slots: ['file'],
    needs: ['file'],
    text: 'Please read the handoff document {file} now and resume the work from it, beginning with its next step. You wrote it yourself before your context was cleared.',
  },
  continue: {
    key: 'continue',
    slots: ['error'],
    needs: [],
    text: 'The last turn ended with an API error ({error}). Please continue with the work where it stopped. If it is done, say so in one line.',
  },
  stalled: {
    key: 'stalled',
    slots: ['minutes', 'activity'],
    needs: [],
    text: 'There has been no sign of progress for {minutes} minutes ({activity}). Please check what is holding the work up, then continue or report in one line.',
  },
} as const satisfies Record<TemplateName, Template>;

export type TemplateKey = (typeof templates)[TemplateName]['key'];
/** `templates` of the configuration. */
export type TemplateOverrides = { readonly [K in TemplateKey]?: string | undefined };
export type SlotValues = Readonly<Record<string, string | number>>;
export type Filled = { ok: true; text: string } | { ok: false; reason: string };

export interface TemplateProblem {
  key: TemplateKey;
  /** What is wrong, then what is allowed. */
  reason: string;
}

const names = Object.keys(templates) as TemplateName[];
const slotPattern = /\{([a-z]+)\}/g;

const templateCharsMax = 1_000;
const phraseCharsMax = 160;
const remarksCharsMax = 600;
const pathCharsMax = 300;

/** The text to type, or why there is none: an agent is not told something half. */
export function fillTemplate(name: TemplateName, slots: SlotValues, overrides: TemplateOverrides): Filled {
  const template: Template = templates[name];
  const text = overrides[templates[name].key] ?? template.text;
  const unknown = Object.keys(slots).find((slot) => !template.slots.some((known) => known === slot));
  if (unknown !== undefined) return { ok: false, reason: `${name} has no slot ${JSON.stringify(unknown)}` };
  const problem = templateProblem(template, text);
  if (problem !== null) return { ok: false, reason: `${name}: ${problem}` };

  const values = new Map<string, string>();
  for (const slot of template.slots) {
    const value = Object.hasOwn(slots, slot) ? slots[slot] : undefined;
    if (value === undefined) return { ok: false, reason: `${name} lacks its slot ${slot}` };
    const checked = slotText(slot, value);
    if (!checked.ok) return { ok: false, reason: `${name}: slot ${slot}: ${checked.reason}` };
    values.set(slot, checked.text);
  }
  // All at once: what a value holds is never taken for a slot.
  const filled = text.replaceAll(slotPattern, (whole, slot: string) => values.get(slot) ?? whole);
  const unsafe = whyUnsafe(filled, true);
  return unsafe === null ? { ok: true, text: filled } : { ok: false, reason: `${name}: ${unsafe}` };
}

/** For the configuration: what is wrong with the templates it gives. */
export function checkTemplates(overrides: TemplateOverrides): TemplateProblem[] {
  return names.flatMap((name) => {
    const template = templates[name];
    const text = overrides[template.key];
    const reason = text === undefined ? null : templateProblem(template, text);
    return reason === null ? [] : [{ key: template.key, reason: `${reason}; ${allowedIn(template)}` }];
  });
}

/** The words used where the configuration gives none. */
export function defaultTemplates(): Record<TemplateKey, string> {
  const texts = names.map((name) => [templates[name].key, templates[name].text]);
  return Object.fromEntries(texts) as Record<TemplateKey, string>;
}

/** What may stand in a text in place of a slot, or why not. */
export function slotText(slot: Slot, value: string | number): Filled {
  return slotKinds[slot](value);
}

function allowedIn({ slots }: Template): string {
  const which = slots.length === 0 ? 'without slots' : `with the slots ${slots.map((slot) => `{${slot}}`).join(', ')}`;
  return `allowed is one line of at most ${templateCharsMax} characters ${which}`;
}

function templateProblem(template: Template, text: string): string | null {
  if (text.length > templateCharsMax) return `it has ${text.length} characters`;
  for (const [whole, slot] of text.matchAll(slotPattern)) {
    if (!template.slots.some((known) => known === slot)) return `it has no slot ${whole}`;
  }
  if (/[{}]/.test(text.replaceAll(slotPattern, ''))) return 'it holds a brace that belongs to no slot';
  const missing = template.needs.find((slot) => !text.includes(`{${slot}}`));
  if (missing !== undefined) return `it lacks {${missing}}`;
  if (text.includes('\n')) return 'it has more than one line';
  // Else the evidence would decide whether the text is a command.
  if (/^\s*\{/.test(text)) return 'it begins with a slot';
  return whyUnsafe(text, true);
}

type SlotCheck = (value: string | number) => Filled;

const slotKinds: Record<Slot, SlotCheck> = {
  task: name,
  minutes: (value) => amount(value, Number.MAX_SAFE_INTEGER),
  percent: (value) => amount(value, 100),
  output,
  file: path,
  error,
  activity: name,
  why: (value) => ownWords(value, phraseCharsMax),
  nonce: (value) => ownWords(value, nonceCharsMax),
  background: (value) => ownWords(value, remarksCharsMax),
  problems: (value) => ownWords(value, remarksCharsMax),
};

const nonceCharsMax = 40;
const detailWords: ReadonlySet<string> = new Set(['thinking', 'tool', 'subagent', 'api-stall', 'working']);

function amount(value: string | number, max: number): Filled {
  const given = typeof value === 'number' ? value : /^\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isFinite(given) || given < 0 || given > max) return { ok: false, reason: 'no number that makes sense' };
  return { ok: true, text: String(given < 10 ? Math.round(given * 10) / 10 : Math.round(given)) };
}

/** What something is called by others; by the number of its row where that cannot be said. */
function name(value: string | number): Filled {
  if (typeof value === 'number') return row(value);
  if (detailWords.has(value)) return { ok: true, text: value };
  return isPlainWord(value) ? { ok: true, text: quoted(value) } : { ok: false, reason: notPlain };
}

const notPlain = 'what comes from outside has to be one short word of letters, figures and . _ : + -';

function row(value: number): Filled {
  return Number.isSafeInteger(value) && value >= 0
    ? { ok: true, text: `no. ${value}` }
    : { ok: false, reason: 'no number of a row' };
}

/** A file's name without its folders, which begin with `/` and are anybody's words. */
function output(value: string | number): Filled {
  if (typeof value === 'number') return row(value);
  return value === 'none' ? { ok: true, text: value } : name(value.slice(value.lastIndexOf('/') + 1));
}

function error(value: string | number): Filled {
  const text = String(value);
  if (isSaidError(text)) return { ok: true, text };
  return { ok: true, text: isPlainWord(text) ? quoted(text) : errorWords(null, text) };
}

/** Of a file of ours, which the agent has to find: neither changed nor cut, it would be another. */
function path(value: string | number): Filled {
  const text = String(value);
  if (text.length > pathCharsMax) return { ok: false, reason: `it is longer than ${pathCharsMax} characters` };
  return /^\/?[A-Za-z0-9._][A-Za-z0-9._/+:*-]*$/.test(text) && !changesWork(text)
    ? { ok: true, text }
    : { ok: false, reason: 'a path of letters, figures and . _ / + : - only can be typed safely' };
}

/** Words of ours, and in them evidence that is quoted already: each of them as it may be typed. */
const ownWord = /^[(“]{0,2}[A-Za-z0-9](?:[A-Za-z0-9._:+%/-]*[A-Za-z0-9%])?[.,:”)…]{0,3}$/;

function ownWords(value: string | number, charsMax: number): Filled {
  const text = String(value).trim();
  if (text === '') return { ok: false, reason: 'it is empty' };
  if (text.length > charsMax) return { ok: false, reason: `it is longer than ${charsMax} characters` };
  return text.split(' ').every((word) => ownWord.test(word) && !changesWork(word))
    ? { ok: true, text }
    : { ok: false, reason: notPlain };
}
