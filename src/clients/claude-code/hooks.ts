import type { HookEvent, HookFact, HookInboxItem, HookOwner, StatusLine, UsageLimit } from '../../model/hook.ts';
import { untrusted } from '../../model/text.ts';
import { asCount, asNumber, asObject, asString, asTimeMs, type JsonObject } from '../json.ts';
import { tagsIn } from '../tags.ts';
import { askedText } from './asked.ts';
import { errorKind } from './errors.ts';
import { allowedMark } from './hook-script.ts';

/**
 * The events hooks are installed for. Left out: WorktreeCreate and WorktreeRemove, whose hook does the work in the
 * client's place, and MessageDisplay, which runs for every few lines the model says.
 */
export const hookEvents: readonly string[] = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Notification',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PostCompact',
  'PreModelSwitch',
  'PostModelSwitch',
  'PermissionRequest',
  'PermissionDenied',
  'Setup',
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'Elicitation',
  'ElicitationResult',
  'ConfigChange',
  'InstructionsLoaded',
  'CwdChanged',
  'FileChanged',
  'DirectoryAdded',
];
const notInstalled: readonly string[] = ['WorktreeCreate', 'WorktreeRemove', 'MessageDisplay'];

const limitsMax = 10;

/** One file of the inbox, as the hook script writes it: a line that says whose it is, then the client's own words. */
export function parseInboxFile(text: string): HookInboxItem | null {
  const end = text.indexOf('\n');
  const head = /^wk1 (hook|statusline) (?:(\d{1,10}) (\d{1,20})|- -)$/.exec(text.slice(0, Math.max(0, end)));
  if (head === null) return null;
  const tail = `\n${allowedMark}\n`;
  const allowed = text.endsWith(tail);
  const body = parseBody(text.slice(end + 1, allowed ? -tail.length : undefined));
  const sessionId = asString(body?.session_id);
  // The id becomes part of a path.
  if (body === null || sessionId === null || !/^[0-9a-f-]{8,64}$/i.test(sessionId)) return null;
  const [, kind, pid, startTicks] = head;
  const owner = pid === undefined || startTicks === undefined ? null : { pid: Number(pid), startTicks };
  if (kind === 'statusline') return { kind, line: statusLine(body, sessionId, owner) };
  const hook = hookEvent(body, sessionId, owner, allowed);
  return hook === null ? null : { kind: 'hook', hook };
}

function hookEvent(body: JsonObject, sessionId: string, owner: HookOwner, allowed: boolean): HookEvent | null {
  const name = asString(body.hook_event_name);
  if (name === null) return null;
  return {
    owner,
    sessionId,
    cwd: asString(body.cwd),
    name: name.slice(0, 80),
    known: hookEvents.includes(name) || notInstalled.includes(name),
    subagent: asString(body.agent_id),
    fact: factOf(name, body, allowed),
  };
}

function factOf(name: string, body: JsonObject, allowed: boolean): HookFact {
  const tool = (asString(body.tool_name) ?? '').slice(0, 200);
  const call = (asString(body.tool_use_id) ?? '').slice(0, 200);
  switch (name) {
    case 'SessionStart':
      return { kind: 'session-start', source: (asString(body.source) ?? '').slice(0, 40) };
    case 'SessionEnd':
      return { kind: 'session-end', reason: (asString(body.reason) ?? '').slice(0, 40) };
    case 'UserPromptSubmit': {
      const prompt = asString(body.prompt) ?? '';
      return { kind: 'prompt', chars: prompt.length, tags: tagsIn(prompt) };
    }
    case 'Stop':
      return { kind: 'turn-end' };
    case 'StopFailure':
      return {
        kind: 'turn-failed',
        error: errorKind(asString(body.error)),
        // More than is shown: a secret that is cut off is not known as one.
        text: untrusted((asString(body.last_assistant_message) ?? '').slice(0, 2_000)),
      };
    case 'PreToolUse':
      return { kind: 'tool-start', id: call, tool };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { kind: 'tool-end', id: call, tool };
    case 'PermissionRequest':
      return allowed ? { kind: 'allowed', tool } : { kind: 'permission', tool, asks: askedText(tool, body.tool_input) };
    case 'PreCompact':
      return { kind: 'compact-start' };
    case 'PostCompact':
      return { kind: 'compact-end' };
    case 'SubagentStart':
      return { kind: 'subagent-start', id: (asString(body.agent_id) ?? '').slice(0, 80) };
    case 'SubagentStop':
      return { kind: 'subagent-end', id: (asString(body.agent_id) ?? '').slice(0, 80) };
    default:
      return { kind: 'other' };
  }
}

function statusLine(body: JsonObject, sessionId: string, owner: HookOwner): StatusLine {
  const context = asObject(body.context_window);
  const usd = asNumber(asObject(body.cost)?.total_cost_usd);
  const window = asCount(context?.context_window_size);
  // Without a reply yet the total is 0, which is no measurement.
  const used = asObject(context?.current_usage) === null ? null : asCount(context?.total_input_tokens);
  return {
    owner,
    sessionId,
    cwd: asString(body.cwd),
    version: asString(body.version),
    model: asString(asObject(body.model)?.id),
    costUsd: usd === null || usd < 0 ? null : usd,
    window: window === 0 ? null : window,
    used: used === 0 ? null : used,
    limits: limitsOf(asObject(body.rate_limits)),
  };
}

function limitsOf(limits: JsonObject | null): UsageLimit[] {
  return Object.entries(limits ?? {})
    .slice(0, limitsMax)
    .flatMap(([name, value]) => {
      const limit = asObject(value);
      const percent = asNumber(limit?.used_percentage);
      if (percent === null || percent < 0) return [];
      const resets = asNumber(limit?.resets_at);
      return [
        { name: name.slice(0, 40), percent, resetsAtMs: resets === null ? null : asTimeMs(Math.round(resets * 1000)) },
      ];
    });
}

/** A long body comes cut: then what stands before the cut still tells which event it is. */
function parseBody(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return topLevelStrings(text);
  }
}

const stringToken = /"(?:[^"\\]|\\.)*"/y;

/** The text fields of an object whose end is missing, but not those of the objects in it. */
function topLevelStrings(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  const found: JsonObject = {};
  let depth = 0;
  let key: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      stringToken.lastIndex = at;
      const token = stringToken.exec(text)?.[0];
      if (token === undefined) break;
      at += token.length - 1;
      if (depth !== 1) continue;
      const value = unescaped(token);
      if (key === null) key = value;
      else {
        found[key] = value;
        key = null;
      }
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ',' && depth === 1) key = null;
  }
  return found;
}

function unescaped(token: string): string {
  try {
    return asString(JSON.parse(token)) ?? '';
  } catch {
    return '';
  }
}
