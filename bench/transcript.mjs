// Made-up transcripts of Claude Code in the shape and mix of real ones: of 21 real sessions two thirds of the bytes were tool
// results (a few kilobytes for the model, three times that in the client's own copy), the rest thinking with its
// signature, calls, progress of subagents and words. The same seed gives the same bytes.
import { closeSync, openSync, writeSync } from 'node:fs';

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const words =
  'return const export function import await value index result config error state client reader session parse write count limit token stream buffer offset window agent model usage event record answer'.split(
    ' ',
  );

/** Lines of code and of logs to cut texts from: made once, as making each text from words would take longer than reading it. */
function linePool(next) {
  return Array.from({ length: 5_000 }, (_, place) => {
    const some = Array.from({ length: 3 + Math.floor(next() * 8) }, () => words[Math.floor(next() * words.length)]);
    const kind = next();
    if (kind < 0.002) return `// größer als ${some.join(' ')} → ${place}`;
    if (kind < 0.6) return `${'  '.repeat(Math.floor(next() * 4))}${some.join(' ')} = "${some[0]}_${place}";`;
    if (kind < 0.8) return `   ${place}→\t${some.join('.')}(${Math.floor(next() * 1000)});`;
    if (kind < 0.9)
      return `[2026-03-0${1 + (place % 9)}T10:11:12.${100 + (place % 900)}Z] ${some.join(' ')} ${(next() * 90).toFixed(2)}ms`;
    return `/home/user/project/src/${some.join('/')}.ts:${place}: ${some.join(' ')}`;
  });
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Lines of one made-up session, without end. */
export function* transcriptLines(seed) {
  const next = random(seed);
  const below = (max) => Math.floor(next() * max);
  const pool = linePool(next);
  const noise = Array.from({ length: 64_000 }, () => base64[below(64)]).join('');
  const text = (chars) => {
    const lines = [];
    for (let left = chars; left > 0; ) {
      const line = pool[below(pool.length)];
      lines.push(line);
      left -= line.length + 1;
    }
    return lines.join('\n');
  };
  const size = (usual) => Math.round(usual * 0.15 * Math.exp(next() * 3));
  const hex = (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join('');
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  const sessionId = uuid();
  let atMs = Date.parse('2026-03-01T08:00:00.000Z');
  let parent = null;
  let calls = 0;
  let cached = 20_000;
  const record = (type, more) => {
    atMs += 200 + below(4_000);
    const own = uuid();
    const line = JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      userType: 'external',
      cwd: '/home/user/project',
      sessionId,
      version: '2.1.325',
      gitBranch: 'main',
      type,
      ...more,
      uuid: own,
      timestamp: new Date(atMs).toISOString(),
    });
    parent = own;
    return line;
  };
  const assistant = (content, stop) => {
    cached = cached > 150_000 ? 20_000 : cached + below(900);
    const usage = {
      input_tokens: below(20),
      cache_creation_input_tokens: below(2_000),
      cache_read_input_tokens: cached,
      output_tokens: below(700),
      service_tier: 'standard',
    };
    const message = {
      model: 'claude-opus-4-6',
      id: `msg_${hex(24)}`,
      type: 'message',
      role: 'assistant',
      content: [content],
      stop_reason: stop,
      stop_sequence: null,
      usage,
    };
    return record('assistant', { message, requestId: `req_${hex(24)}` });
  };
  while (true) {
    yield record('user', { message: { role: 'user', content: text(size(800)) }, promptSource: 'typed' });
    for (let steps = 5 + below(60); steps > 0; steps -= 1) {
      if (next() < 0.7) {
        const from = below(30_000);
        const signature = noise.slice(from, from + size(900));
        yield assistant({ type: 'thinking', thinking: text(size(700)), signature }, null);
      }
      if (next() < 0.3) yield assistant({ type: 'text', text: text(size(500)) }, null);
      calls += 1;
      const id = `toolu_${calls}_${hex(16)}`;
      const file = `/home/user/project/src/${words[below(words.length)]}/${words[below(words.length)]}-${below(90)}.ts`;
      const kind = next();
      const { name, input, content, toolUseResult } =
        kind < 0.35
          ? readCall(file, text(size(4_500)))
          : kind < 0.6
            ? editCall(file, text(size(350)), text(size(350)), text(size(12_000)))
            : bashCall(`npm test -- ${words[below(words.length)]} ${below(500)}`, text(size(2_500)));
      const failed = next() < 0.06;
      yield assistant({ type: 'tool_use', id, name, input }, 'tool_use');
      if (next() < 0.25) {
        for (let more = below(6); more > 0; more -= 1) {
          const data = { type: 'agent_progress', agentId: hex(8), message: text(size(400)) };
          yield record('progress', { data, toolUseID: id });
        }
      }
      const part = { tool_use_id: id, type: 'tool_result', content: failed ? `Error: ${text(200)}` : content };
      const message = { role: 'user', content: [failed ? { ...part, is_error: true } : part] };
      yield record('user', { message, toolUseResult: failed ? `Error: ${content.slice(0, 200)}` : toolUseResult });
    }
    yield assistant({ type: 'text', text: text(size(900)) }, 'end_turn');
    yield record('system', { subtype: 'turn_duration', durationMs: 60_000 + below(90_000), isMeta: false });
    atMs += below(900_000);
  }
}

function readCall(file, content) {
  const numLines = content.split('\n').length;
  return {
    name: 'Read',
    input: { file_path: file },
    content: content.replaceAll('\n', '\n→'),
    toolUseResult: {
      type: 'text',
      file: { filePath: file, content, numLines, startLine: 1, totalLines: numLines },
    },
  };
}

function editCall(file, oldString, newString, originalFile) {
  const lines = [
    ...oldString.split('\n').map((line) => `-${line}`),
    ...newString.split('\n').map((line) => `+${line}`),
  ];
  return {
    name: 'Edit',
    input: { file_path: file, old_string: oldString, new_string: newString, replace_all: false },
    content: `The file ${file} has been updated. Here's the result of running \`cat -n\` on a snippet:\n${newString}`,
    toolUseResult: {
      filePath: file,
      oldString,
      newString,
      originalFile,
      structuredPatch: [{ oldStart: 1, oldLines: 9, newStart: 1, newLines: 9, lines }],
      userModified: false,
      replaceAll: false,
    },
  };
}

function bashCall(command, stdout) {
  return {
    name: 'Bash',
    input: { command, description: `Run ${command}` },
    content: stdout,
    toolUseResult: { stdout, stderr: '', interrupted: false, isImage: false },
  };
}

/** A transcript of about so many bytes. */
export function writeTranscript(file, bytes, seed) {
  const handle = openSync(file, 'w', 0o600);
  let left = bytes;
  let block = [];
  let blockChars = 0;
  const flush = () => {
    left -= writeSync(handle, block.join(''));
    block = [];
    blockChars = 0;
  };
  for (const line of transcriptLines(seed)) {
    block.push(line, '\n');
    blockChars += line.length;
    if (blockChars > 4_000_000) flush();
    if (left <= blockChars) break;
  }
  flush();
  closeSync(handle);
}
