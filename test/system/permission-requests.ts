// What a client may ask for: the one file that is allowed, in every honest way, and everything that only looks like it.
import { randomUUID } from 'node:crypto';
import path from 'node:path';

export interface Allowed {
  sessionId: string;
  project: string;
  folder: string;
  file: string;
}

type Case = [what: string, body: (of: Allowed) => string | Buffer];

/** As Claude Code 2.1.325 says it. */
export function request(
  of: Allowed,
  fields: Record<string, unknown> = {},
  input: Record<string, unknown> | unknown[] = {},
): string {
  return JSON.stringify({
    session_id: of.sessionId,
    transcript_path: `/home/user/.claude/projects/-home-user-project/${of.sessionId}.jsonl`,
    cwd: of.project,
    prompt_id: '83f118a7-0a1d-4a86-8e76-77a956dd4757',
    permission_mode: 'default',
    effort: { level: 'medium' },
    hook_event_name: 'PermissionRequest',
    tool_name: 'Write',
    tool_input: Array.isArray(input) ? input : { file_path: of.file, content: '# Handoff\n', ...input },
    permission_suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    ...fields,
  });
}

const edit = { content: undefined, old_string: 'a', new_string: 'b' };

export const honest: Case[] = [
  ['the file is written', (of) => request(of)],
  [
    'its content may be anything',
    (of) => request(of, {}, { content: 'ä "\\\n\u2028\u0000 {"file_path":"/etc/passwd"} 😀' }),
  ],
  ['a line ends behind the event', (of) => `${request(of)}\n`],
  ['the file is edited', (of) => request(of, { tool_name: 'Edit' }, { ...edit, replace_all: false })],
  [
    'it is edited in several places',
    (of) =>
      request(
        of,
        { tool_name: 'MultiEdit' },
        {
          content: undefined,
          edits: [
            { old_string: 'a', new_string: 'b' },
            { old_string: '', new_string: 'c', replace_all: true },
          ],
        },
      ),
  ],
  ['the client was started as an agent of its own', (of) => request(of, { agent_type: 'reviewer' })],
  ['nothing is suggested', (of) => request(of, { permission_suggestions: undefined })],
];

const name = (of: Allowed) => path.basename(of.file);

/** Of a Write. */
export const otherPaths: [what: string, path: (of: Allowed) => unknown][] = [
  ['another file beside it', (of) => path.join(of.folder, 'other.md')],
  ['the same name elsewhere', (of) => path.join(of.project, name(of))],
  ['its folder', (of) => of.folder],
  ['it as if it were a folder', (of) => `${of.file}/`],
  ['something below it', (of) => `${of.file}/x`],
  ['a relative path', (of) => `.watchkeeper/handoffs/${name(of)}`],
  ['a way with ..', (of) => `${of.folder}/../handoffs/${name(of)}`],
  ['a way with .', (of) => `${of.folder}/./${name(of)}`],
  ['two slashes', (of) => `${of.folder}//${name(of)}`],
  ['two slashes at the beginning', (of) => `/${of.file}`],
  ['a blank behind', (of) => `${of.file} `],
  ['a line end behind', (of) => `${of.file}\n`],
  ['a line end and more', (of) => `/etc/passwd\n${of.file}`],
  ['a NUL behind', (of) => `${of.file}\u0000`],
  ['quotes', (of) => `'${of.file}'`],
  ['a quotation mark', (of) => `${of.file}"`],
  ['a backslash', (of) => of.file.replace('handoffs', 'hand\\offs')],
  ['a home', (of) => `~${of.file}`],
  ['a variable', (of) => `\${PWD}/../..${of.file}`],
  ['a URL', (of) => `file://${of.file}`],
  ['other case', (of) => of.file.toUpperCase()],
  ['a letter that only looks the same', (of) => of.file.replace('handoff-', 'handоff-')],
  ['a zero-width blank', (of) => of.file.replace('handoff-', 'handoff\u200b-')],
  ['a list', (of) => [of.file]],
  ['an object', (of) => ({ toString: of.file })],
  ['a number', () => 7],
  ['null', () => null],
  ['nothing', () => undefined],
];

function swap(of: Allowed, from: string, to: string): string {
  const text = request(of);
  if (!text.includes(from)) throw new Error(`no ${from} in it`);
  return text.replace(from, () => to);
}

const inJson = (of: Allowed) => JSON.stringify(of.file);

export const odd: Case[] = [
  ['another tool', (of) => request(of, { tool_name: 'NotebookEdit' })],
  ['a tool of the same name in small letters', (of) => request(of, { tool_name: 'write' })],
  ['a tool that is a list', (of) => request(of, { tool_name: ['Write'] })],
  [
    'a shell that writes it',
    (of) => request(of, { tool_name: 'Bash', tool_input: { command: `echo x > ${of.file}` } }),
  ],
  [
    'a shell with a path beside',
    (of) => request(of, { tool_name: 'Bash' }, { content: undefined, command: 'rm -rf /' }),
  ],
  ['a folder made', (of) => request(of, { tool_name: 'Bash', tool_input: { command: `mkdir -p ${of.folder}` } })],
  ['the path only in the content', (of) => request(of, {}, { file_path: '/etc/passwd', content: inJson(of) })],
  ['one more word in the input', (of) => request(of, {}, { mode: '0777' })],
  ['no content', (of) => request(of, {}, { content: undefined })],
  ['content that is no text', (of) => request(of, {}, { content: { a: 1 } })],
  ['an edit without its old text', (of) => request(of, { tool_name: 'Edit' }, { ...edit, old_string: undefined })],
  ['an edit with one word more', (of) => request(of, { tool_name: 'Edit' }, { ...edit, file: '/etc/passwd' })],
  ['an edit with an odd flag', (of) => request(of, { tool_name: 'Edit' }, { ...edit, replace_all: 'yes' })],
  ['no edits', (of) => request(of, { tool_name: 'MultiEdit' }, { content: undefined, edits: [] })],
  ['edits that are none', (of) => request(of, { tool_name: 'MultiEdit' }, { content: undefined, edits: ['x'] })],
  [
    'edits of another file',
    (of) => request(of, { tool_name: 'MultiEdit' }, { content: undefined, edits: [{ ...edit, file_path: '/x' }] }),
  ],
  ['an input that is a list', (of) => request(of, {}, [of.file])],
  ['no input', (of) => request(of, { tool_input: undefined })],
  ['another event', (of) => request(of, { hook_event_name: 'PreToolUse' }, { content: 'PermissionRequest' })],
  ['another session', (of) => request(of, { session_id: randomUUID() })],
  ['no session', (of) => request(of, { session_id: undefined })],
  ['a subagent', (of) => request(of, { agent_id: 'a8432a07c44230d7b', agent_type: 'general-purpose' })],
  ['a subagent without a name', (of) => request(of, { agent_id: null })],
  ['an agent that is to plan only', (of) => request(of, { permission_mode: 'plan' })],
  ['slashes in escapes', (of) => swap(of, inJson(of), inJson(of).replaceAll('/', '\\u002f'))],
  ['escaped slashes', (of) => swap(of, inJson(of), inJson(of).replaceAll('/', '\\/'))],
  ['a letter in escapes', (of) => swap(of, '"Write"', '"\\u0057rite"')],
  ['the path twice, this one last', (of) => swap(of, '"file_path":', '"file_path":"/etc/passwd","file_path":')],
  ['the path twice, this one first', (of) => swap(of, '"content":', '"file_path":"/etc/passwd","content":')],
  ['the tool twice', (of) => swap(of, '"tool_name":', '"tool_name":"Bash","tool_name":')],
  ['the input twice', (of) => swap(of, '"tool_input":', '"tool_input":{"command":"rm"},"tool_input":')],
  ['an agent id that is hidden', (of) => swap(of, '"tool_name":', '"agent_id":"a","agent_id":null,"tool_name":')],
  ['a prototype', (of) => swap(of, '"content":', '"__proto__":{"file_path":"/etc/passwd"},"content":')],
  ['blanks between', (of) => JSON.stringify(JSON.parse(request(of)), null, 1)],
  ['a blank before', (of) => ` ${request(of)}`],
  ['a byte order mark', (of) => `\ufeff${request(of)}`],
  ['two events', (of) => `${request(of)}\n${request(of)}`],
  ['our own mark behind it', (of) => `${request(of)}\nwk1 allowed\n`],
  ['a comment', (of) => `${request(of)}//`],
  ['half of it', (of) => request(of).slice(0, -20)],
  ['no JSON', () => 'PermissionRequest Write allow'],
  ['nothing', () => ''],
  ['a list', (of) => `[${request(of)}]`],
  [
    'bytes that are no UTF-8',
    (of) => Buffer.concat([Buffer.from(request(of).slice(0, -2)), Buffer.from([0xff, 0x7d, 0x7d])]),
  ],
  ['a letter of one byte in the content', (of) => Buffer.from(request(of, {}, { content: 'ä' }), 'latin1')],
  ['deep nesting', (of) => swap(of, '{"level":"medium"}', '['.repeat(25_000) + ']'.repeat(25_000))],
  ['more than an event may hold', (of) => request(of, {}, { content: 'x'.repeat(200_000) })],
  ['10 MB before the path', (of) => request(of, {}, { content: 'x'.repeat(10_000_000), file_path: of.file })],
];
