import type { Json } from '../../model/event.ts';
import { fail, ok, type Result } from '../../model/result.ts';
import { quoted } from '../inbox.ts';
import {
  type BadSettings,
  isCommand,
  type SettingsView,
  type StatusLineCommand,
  type WantedSettings,
} from '../installer.ts';
import { add, type JsonNode, nodeAt, readJson, remove, replace } from './json-text.ts';

const timeoutSeconds = 5;
const disabled = 'disableAllHooks';
const scriptEnding = '/hooks/claude-code.sh';
/** Something that lets it write files, all or some. */
const writes = /^(Write|Edit)\b/;

export function viewSettings(text: string): Result<SettingsView, BadSettings> {
  const read = readJson(text);
  if (!read.ok) return fail('not-json', `is not JSON (line ${read.line}: ${read.what})`, 'correct it by hand');
  const { root } = read;
  if (root !== null && root.kind !== 'object')
    return fail('wrong-shape', 'is not a JSON object', 'settings begin with { and end with }');
  const wrong = wrongHooks(root);
  if (wrong !== null) return fail('wrong-shape', wrong, 'the client ignores it as it is: correct it by hand');
  const scripts = new Map<string, Set<string>>();
  for (const { event, command } of handlers(root)) {
    const ours = ourCommand(command);
    if (ours?.kind === 'hook') scripts.set(ours.script, (scripts.get(ours.script) ?? new Set()).add(event));
  }
  const statusLine = statusLineOf(root);
  const ours = isCommand(statusLine) ? ourCommand(statusLine.command) : null;
  return ok({
    scripts,
    statusLineScript: ours?.kind === 'statusline' ? ours.script : null,
    statusLine,
    hooksDisabled: nodeAt(root, [disabled])?.value === true ? disabled : null,
    allowsWriting: (nodeAt(root, ['permissions', 'allow'])?.parts ?? []).some(({ node }) =>
      writes.test(String(node.value)),
    ),
    lenient: read.lenient,
  });
}

/** Puts in what is missing and takes out what an older version put there; the same text where all is as wanted. */
export function addToSettings(before: string, wanted: WantedSettings): Result<string, BadSettings> {
  const view = viewSettings(before);
  if (!view.ok) return view;
  const { script, events } = wanted;
  const have = view.value.scripts.get(script) ?? new Set<string>();
  let text = before;
  for (const event of have) if (!events.includes(event)) text = withoutEvent(text, script, event, false);
  const missing = events.filter((event) => !have.has(event));
  const line = wantedStatusLine(view.value, wanted);
  if (missing.length > 0 || line !== null) text = ground(text);
  if (missing.length > 0 && at(text, ['hooks']) === null) text = add(text, [], 'hooks', {});
  for (const event of missing) {
    if (at(text, ['hooks', event]) === null) text = add(text, ['hooks'], event, [ourGroup(script)]);
    else text = add(text, ['hooks', event], null, ourGroup(script));
  }
  if (line === null) return ok(text);
  return ok(
    view.value.statusLine === null
      ? add(text, [], 'statusLine', line.fields)
      : replace(text, ['statusLine', 'command'], line.command),
  );
}

/** `before`: the text from before `addToSettings`, where it is known: what was empty already stays. */
export function removeFromSettings(
  changed: string,
  script: string,
  before: string | null,
): Result<string, BadSettings> {
  const view = viewSettings(changed);
  if (!view.ok) return view;
  const old = before === null ? null : readJson(before);
  const wasThere = (...path: string[]) => old?.ok === true && nodeAt(old.root, path) !== null;
  let text = changed;
  const events = view.value.scripts.get(script) ?? new Set<string>();
  for (const event of events) text = withoutEvent(text, script, event, wasThere('hooks', event));
  if (events.size > 0 && !wasThere('hooks') && isBare(at(text, ['hooks']))) text = remove(text, ['hooks']);
  const { statusLine } = view.value;
  if (view.value.statusLineScript !== script || !isCommand(statusLine)) return ok(text);
  const inner = ourCommand(statusLine.command)?.inner ?? null;
  return ok(inner === null ? remove(text, ['statusLine']) : replace(text, ['statusLine', 'command'], inner));
}

/** Nothing is left in it that anybody could miss. */
export function isEmptySettings(text: string): boolean {
  const read = readJson(text);
  return read.ok && read.lenient === null && (read.root === null || read.root.parts.length === 0);
}

function ourGroup(script: string): Json {
  return { hooks: [{ type: 'command', command: `${quoted(script)} hook`, timeout: timeoutSeconds }] };
}

function wantedStatusLine(view: SettingsView, wanted: WantedSettings): StatusLineCommand | null {
  // What stands there and is no command is left alone: there is nothing to chain.
  if (view.statusLineScript !== null || view.statusLine === 'other') return null;
  const around = view.statusLine ?? (wanted.statusLine === 'add' ? wanted.below : null);
  if (around === null && wanted.statusLine === 'chain') return null;
  const words = [wanted.script, 'statusline', ...(around === null ? [] : [around.command])];
  const command = words.map((word, index) => (index === 1 ? word : quoted(word))).join(' ');
  return { command, fields: { type: 'command', ...around?.fields, command } };
}

/** An empty file is as good as an empty object. */
function ground(text: string): string {
  if (at(text, []) !== null) return text;
  return `${text.startsWith('\ufeff') ? '\ufeff' : ''}{}${text.includes('\r\n') ? '\r\n' : '\n'}`;
}

function withoutEvent(before: string, script: string, event: string, keepEmpty: boolean): string {
  let text = before;
  const groups = () => at(text, ['hooks', event])?.parts ?? [];
  // From the end, so that the places of those before do not move.
  for (let group = groups().length - 1; group >= 0; group -= 1) {
    const list = () => nodeAt(groups()[group]?.node ?? null, ['hooks']);
    let taken = 0;
    for (let index = (list()?.parts.length ?? 0) - 1; index >= 0; index -= 1) {
      const ours = ourCommand(String(nodeAt(list()?.parts[index]?.node ?? null, ['command'])?.value ?? ''));
      if (ours?.kind !== 'hook' || ours.script !== script) continue;
      text = remove(text, ['hooks', event, group, 'hooks', index]);
      taken += 1;
    }
    if (taken > 0 && isBare(list())) text = remove(text, ['hooks', event, group]);
  }
  return isBare(at(text, ['hooks', event])) && !keepEmpty ? remove(text, ['hooks', event]) : text;
}

/** Empty, and without a comment that somebody left in it. */
function isBare(node: JsonNode | null): boolean {
  return node !== null && node.parts.length === 0 && node.innerEnd === node.start + 1;
}

function at(text: string, path: readonly (string | number)[]): JsonNode | null {
  const read = readJson(text);
  return read.ok ? nodeAt(read.root, path) : null;
}

function wrongHooks(root: JsonNode | null): string | null {
  const hooks = nodeAt(root, ['hooks']);
  if (hooks === null) return null;
  if (hooks.kind !== 'object') return 'has `hooks` that are no object';
  for (const { key, node } of hooks.parts) {
    if (node.kind !== 'array') return `has \`hooks.${key}\` that is no list`;
    if (node.parts.some((group) => nodeAt(group.node, ['hooks'])?.kind !== 'array'))
      return `has an entry in \`hooks.${key}\` without a list of hooks`;
  }
  return null;
}

function* handlers(root: JsonNode | null): Generator<{ event: string; command: string }> {
  for (const { key: event, node } of nodeAt(root, ['hooks'])?.parts ?? []) {
    for (const group of node.parts) {
      for (const handler of nodeAt(group.node, ['hooks'])?.parts ?? []) {
        const command = nodeAt(handler.node, ['command']);
        if (event !== null && command?.kind === 'string') yield { event, command: String(command.value) };
      }
    }
  }
}

function statusLineOf(root: JsonNode | null): SettingsView['statusLine'] {
  const node = nodeAt(root, ['statusLine']);
  if (node === null) return null;
  const command = nodeAt(node, ['command']);
  if (nodeAt(node, ['type'])?.value !== 'command' || command?.kind !== 'string') return 'other';
  const fields = node.parts.flatMap(({ key, node: field }) =>
    key === null || field.kind === 'object' || field.kind === 'array' ? [] : [[key, field.value] as const],
  );
  return { command: String(command.value), fields: Object.fromEntries(fields) };
}

/** A command as `addToSettings` writes it; `inner` is the status line it goes around. */
function ourCommand(command: string): { script: string; kind: 'hook' | 'statusline'; inner: string | null } | null {
  const words = wordsOf(command);
  const [script = '', kind, inner = null] = words ?? [];
  if (words === null || words.length > 3 || !script.startsWith('/') || !script.endsWith(scriptEnding)) return null;
  return kind === 'hook' || kind === 'statusline' ? { script, kind, inner } : null;
}

/** The words sh would make of it; null where it would do more than that. */
function wordsOf(command: string): string[] | null {
  const word = /(?:'[^']*'|\\'|[\w@%+=:,./-])+/y;
  const words: string[] = [];
  let rest = command.trim();
  while (rest !== '') {
    word.lastIndex = 0;
    const found = word.exec(rest)?.[0];
    if (found === undefined) return null;
    words.push(found.replace(/'([^']*)'|\\'/g, (_, inside?: string) => inside ?? "'"));
    const after = rest.slice(found.length);
    if (after !== '' && !/^\s/.test(after)) return null;
    rest = after.trimStart();
  }
  return words;
}
