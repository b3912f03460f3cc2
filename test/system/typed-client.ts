// A stand-in that can be spoken to: it draws the client's input box, takes keys and pastes as the client does, writes down
// what is submitted, and answers it in its transcript. For whole days of typing, without a real client's weight.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../src/conform/until.ts';
import { openPane, StandIn } from './stand-in.ts';
import type { World } from './world.ts';

const program = `
const { appendFileSync } = require('node:fs');
const { randomUUID } = require('node:crypto');
const [, , transcript, submitted, received] = process.argv;
let box = '', stash = null, rest = '', pasting = false;
const rule = () => '\\u2500'.repeat(process.stdout.columns);
function draw() {
  const width = process.stdout.columns - 4;
  const rows = [];
  for (let at = 0; at === 0 || at < box.length; at += width) rows.push(box.slice(at, at + width));
  const lines = [rule(), ...rows.map((row, n) => (n === 0 ? '\\u276f\\u00a0' : '  ') + row), rule(), '  ? for shortcuts'];
  if (stash !== null) lines.unshift(' '.repeat(process.stdout.columns - 12) + '\\u203a stashed');
  process.stdout.write('\\x1b[2J\\x1b[H' + '\\n'.repeat(Math.max(0, process.stdout.rows - lines.length - 1)) + lines.join('\\r\\n'));
}
function record(fields) {
  const all = { uuid: randomUUID(), timestamp: new Date().toISOString(), isSidechain: false, ...fields };
  appendFileSync(transcript, JSON.stringify(all) + '\\n');
}
function submit() {
  appendFileSync(submitted, JSON.stringify(box) + '\\n');
  record({ type: 'user', promptSource: 'typed', message: { role: 'user', content: box } });
  const usage = { input_tokens: 9, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 5 };
  const content = [{ type: 'text', text: 'Done.' }];
  record({ type: 'assistant', message: { id: randomUUID(), role: 'assistant', model: 'claude-opus-4-8', content, usage, stop_reason: 'end_turn' } });
  record({ type: 'system', subtype: 'turn_duration', durationMs: 5 });
  box = stash ?? '';
  stash = null;
}
function key(character) {
  if (pasting) box += character;
  else if (character === '\\r') submit();
  else if (character === '\\x15') box = '';
  else if (character === '\\x13') [box, stash] = box === '' ? [stash ?? '', null] : ['', box];
  else if (character >= ' ') box += character;
}
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8');
process.stdin.on('data', (bytes) => {
  appendFileSync(received, bytes);
  rest += bytes;
  while (rest !== '') {
    const mark = /^\\x1b\\[(20[01])~/.exec(rest);
    if (mark !== null) pasting = mark[1] === '200';
    else if (rest[0] === '\\x1b' && rest.length < 6) break;
    else key(rest[0]);
    rest = rest.slice(mark === null ? 1 : mark[0].length);
  }
  draw();
});
process.stdout.on('resize', draw);
process.stdout.write('\\x1b[?2004h');
draw();
`;

export class TypedClient extends StandIn {
  #folder = '';

  /** What was submitted, in the order it came. */
  submitted(): string[] {
    return read(path.join(this.#folder, 'submitted'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string);
  }

  /** Every byte that came to its terminal. */
  received(): string {
    return read(path.join(this.#folder, 'received'));
  }

  /** Below a shell, as most are started, it can be stopped: a pane's own process tmux sets going again. */
  static async open(world: World, session: string, isInOwnTerminal = false): Promise<TypedClient> {
    const folder = path.join(world.dir, 'agents', session);
    const [configDir, cwd] = [path.join(folder, 'config'), path.join(folder, 'project')];
    for (const each of [configDir, cwd]) mkdirSync(each, { recursive: true });
    const claude = path.join(folder, 'claude');
    const script = path.join(folder, '@anthropic-ai/claude-code/cli.js');
    mkdirSync(path.dirname(script), { recursive: true });
    writeFileSync(script, program);
    symlinkSync(process.execPath, claude);
    const planned = new TypedClient(0, configDir, cwd);
    mkdirSync(path.dirname(planned.transcriptFile), { recursive: true });
    const files = [planned.transcriptFile, path.join(folder, 'submitted'), path.join(folder, 'received')];
    const command = [claude, script, ...files];
    const argv = isInOwnTerminal
      ? ['sh', '-c', 'script -q -e -c "$*" /dev/null; exit', 'sh', ...command]
      : ['sh', '-c', '"$0" "$@"; exit', ...command];
    const shell = await openPane(world.tmux, session, cwd, { CLAUDE_CONFIG_DIR: configDir }, argv);
    const pid = await until('the client', () => below(shell).find((one) => nameOf(one).startsWith('claude')));
    const client = new TypedClient(pid, configDir, cwd);
    client.sessionId = planned.sessionId;
    client.#folder = folder;
    client.register({});
    return client;
  }
}

function below(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...below(child)]);
}

function nameOf(pid: number): string {
  return read(`/proc/${pid}/comm`);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
