// A stand-in for Claude Code where only bad input is at stake: a real process that lies where the client's program
// does, in a pane of its own, with registry and transcript as the test writes them.
import { randomUUID } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Tmux } from '../../src/conform/tmux.ts';
import type { World } from './world.ts';

export interface StandInOptions {
  /** Another server than the world's own. */
  tmux?: Tmux;
  configDir?: string;
  cwd?: string;
  /** Goes on when its terminal is gone. */
  survivesHangup?: boolean;
  /** With no registry file yet. */
  unregistered?: boolean;
}

/** In a folder named like the client's package; `sleep` does what an idle client does. */
export function standInProgram(world: { dir: string }): string {
  const program = path.join(world.dir, 'lib/node_modules/@anthropic-ai/claude-code/bin/claude');
  if (!existsSync(program)) {
    mkdirSync(path.dirname(program), { recursive: true });
    copyFileSync('/usr/bin/sleep', program);
  }
  return program;
}

export async function openStandIn(world: World, session: string, options: StandInOptions = {}): Promise<StandIn> {
  const configDir = options.configDir ?? path.join(world.dir, 'agents', session, 'config');
  const cwd = options.cwd ?? path.join(world.dir, 'agents', session, 'project');
  mkdirSync(configDir, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const program = [standInProgram(world), 'infinity'];
  const pid = await openPane(options.tmux ?? world.tmux, session, cwd, { CLAUDE_CONFIG_DIR: configDir }, [
    ...(options.survivesHangup ? ['sh', '-c', `trap '' HUP; exec "$0" "$@"`] : []),
    ...program,
  ]);
  const standIn = new StandIn(pid, configDir, cwd);
  if (!options.unregistered) standIn.register({});
  return standIn;
}

/** Starts a program directly in a new session; its pid. */
export async function openPane(
  tmux: Tmux,
  session: string,
  cwd: string,
  env: Record<string, string>,
  argv: string[],
): Promise<number> {
  const environment = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const where = ['-d', '-P', '-F', '#{pane_pid}', '-s', session, '-c', cwd, ...environment];
  return Number(await tmux.run('new-session', ...where, '--', ...argv));
}

export class StandIn {
  readonly pid: number;
  readonly configDir: string;
  readonly cwd: string;
  sessionId: string = randomUUID();

  constructor(pid: number, configDir: string, cwd: string) {
    this.pid = pid;
    this.configDir = configDir;
    this.cwd = cwd;
  }

  get registryFile(): string {
    return path.join(this.configDir, 'sessions', `${this.pid}.json`);
  }

  get transcriptFile(): string {
    return path.join(this.configDir, 'projects', this.cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'), `${this.sessionId}.jsonl`);
  }

  /** The registry entry as the client writes it, but for the fields given. */
  entry(fields: Record<string, unknown> = {}): Record<string, unknown> {
    const nowMs = Date.now();
    return {
      pid: this.pid,
      sessionId: this.sessionId,
      cwd: this.cwd,
      startedAt: nowMs,
      procStart: startTicks(this.pid),
      version: '2.1.325',
      kind: 'interactive',
      entrypoint: 'cli',
      status: 'idle',
      updatedAt: nowMs,
      statusUpdatedAt: nowMs,
      ...fields,
    };
  }

  register(fields: Record<string, unknown>): void {
    this.writeRegistry(JSON.stringify(this.entry(fields)));
  }

  /** Replaced whole, as the client does it. */
  writeRegistry(text: string | Buffer): void {
    mkdirSync(path.dirname(this.registryFile), { recursive: true });
    writeFileSync(`${this.registryFile}.new`, text);
    renameSync(`${this.registryFile}.new`, this.registryFile);
  }

  write(...records: object[]): void {
    mkdirSync(path.dirname(this.transcriptFile), { recursive: true });
    appendFileSync(this.transcriptFile, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** A turn that ended well. */
  turn(used = 1_000): void {
    this.write(prompt(), reply({ used }), turnEnd());
  }
}

export function startTicks(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Records as in the transcripts of 2.1.325, with what the reader looks at. */
function record(fields: object): object {
  return { uuid: randomUUID(), timestamp: new Date().toISOString(), isSidechain: false, ...fields };
}

export function prompt(text = 'do it'): object {
  return record({ type: 'user', promptSource: 'typed', message: { role: 'user', content: text } });
}

interface Reply {
  used?: number;
  model?: string;
  tool?: { id: string; name: string };
}

export function reply({ used = 1_000, model = 'claude-opus-4-8', tool }: Reply = {}): object {
  const content = tool === undefined ? [{ type: 'text', text: 'Done.' }] : [{ type: 'tool_use', input: {}, ...tool }];
  const usage = { input_tokens: used, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 5 };
  const stop_reason = tool === undefined ? 'end_turn' : 'tool_use';
  return record({
    type: 'assistant',
    message: { id: randomUUID(), role: 'assistant', model, content, usage, stop_reason },
  });
}

export function apiError(text: string, fields: object = {}): object {
  const message = { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] };
  return record({
    type: 'assistant',
    isApiErrorMessage: true,
    error: 'server_error',
    apiErrorStatus: 529,
    message,
    ...fields,
  });
}

/** As the versions write it that record every attempt; the next one is far off. */
export function retry(error: object): object {
  return record({ type: 'system', subtype: 'api_error', error, retryInMs: 600_000, retryAttempt: 1, maxRetries: 10 });
}

export function turnEnd(): object {
  return record({ type: 'system', subtype: 'turn_duration', durationMs: 5 });
}
