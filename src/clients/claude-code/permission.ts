import type { Permissions, WriteRequest } from '../installer.ts';
import { asObject, asObjects, asString, type JsonObject, parseObject } from '../json.ts';
import { permissionEvent } from './event-versions.ts';
import { asksToWrite } from './permission-mode.ts';

const allowAnswer = JSON.stringify({
  hookSpecificOutput: { hookEventName: permissionEvent, decision: { behavior: 'allow' } },
});

/**
 * A PermissionRequest that asks for nothing but to write one file; null for anything else. Only the text that the client
 * itself would make of these facts is taken: so there is no key twice, no path written in escapes, nothing behind it, and
 * nobody can read the same text in another way.
 */
export function writeRequest(text: string): WriteRequest | null {
  const body = parseObject(text);
  if (body === null || JSON.stringify(body) !== text.replace(/\n$/, '')) return null;
  if (body.hook_event_name !== permissionEvent || body.permission_mode === 'plan') return null;
  // A subagent has the session id of its parent.
  if ('agent_id' in body) return null;
  const sessionId = asString(body.session_id);
  const input = asObject(body.tool_input);
  const file = asString(input?.file_path);
  if (sessionId === null || input === null || file === null) return null;
  return isPlainInput(body.tool_name, input) ? { sessionId, file } : null;
}

function isPlainInput(tool: unknown, { file_path: _, ...rest }: JsonObject): boolean {
  if (tool === 'Write') return hasOnly(rest, ['content']);
  if (tool === 'Edit') return isEdit(rest);
  if (tool !== 'MultiEdit' || Object.keys(rest).join() !== 'edits' || !Array.isArray(rest.edits)) return false;
  const edits = asObjects(rest.edits);
  return edits.length > 0 && edits.length === rest.edits.length && edits.every(isEdit);
}

function isEdit({ replace_all: all = false, ...rest }: JsonObject): boolean {
  return typeof all === 'boolean' && hasOnly(rest, ['old_string', 'new_string']);
}

function hasOnly(input: JsonObject, texts: string[]): boolean {
  return Object.keys(input).length === texts.length && texts.every((key) => typeof input[key] === 'string');
}

export const permissions: Permissions = { event: permissionEvent, writeRequest, allow: allowAnswer, asksToWrite };
