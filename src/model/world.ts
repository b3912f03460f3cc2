/** The outside world as small interfaces, so that a simulated one can drive the same code. */

export interface Clock {
  nowMs(): number;
  /** Never jumps; for deadlines and for ages within one run. */
  monotonicMs(): number;
}

/** A process cannot be mistaken for another one that got the same pid later. */
export interface ProcessId {
  bootId: string;
  pid: number;
  /** Clock ticks since boot, field 22 of /proc/<pid>/stat. */
  startTicks: string;
}

export interface ProcessInfo extends ProcessId {
  ppid: number;
  uid: number;
  command: string;
  /** R, S, D, T, Z … as the kernel has it. */
  runState: string;
  processGroup: number;
  /** Its controlling terminal, as the kernel numbers them; 0 without one. */
  terminal: number;
  /** Foreground process group of its terminal; −1 without one. */
  terminalGroup: number;
}

export interface Processes {
  readonly bootId: string;
  readonly uid: number;
  info(pid: number): ProcessInfo | null;
  /** The cheapest look there is: whether some process has this pid and goes on, neither dead nor stopped. */
  goesOn(pid: number): boolean;
  children(pid: number): number[];
  /** The binary's real path, null where it cannot be read. */
  executable(pid: number): string | null;
  arguments(pid: number): string[] | null;
  /** Its present directory, null where it cannot be read. */
  directory(pid: number): string | null;
  /** Only the named variables are kept; null where the environment cannot be read. */
  environment(pid: number, names: readonly string[]): Record<string, string> | null;
  startedAtMs(process: ProcessInfo): number;
}

export type FileKind = 'file' | 'directory' | 'symlink' | 'other';

export interface FileInfo {
  kind: FileKind;
  size: number;
  mtimeMs: number;
  inode: string;
  /** When it was made; 0 where the file system does not say. An inode is used again at once. */
  bornMs: number;
  uid: number;
}

export type ReadFailure = 'missing' | 'denied' | 'not-regular' | 'foreign' | 'too-big' | 'io';

export interface Files {
  /** Does not follow a symlink. */
  info(path: string): FileInfo | null;
  list(path: string): string[] | null;
  /** A whole small file: regular, ours, not behind a link. */
  readSmall(
    path: string,
    bytesMax: number,
  ): { ok: true; text: string; info: FileInfo } | { ok: false; reason: ReadFailure };
  /** Bytes from an offset on, of a regular file of ours that is not behind a link. */
  readAt(
    path: string,
    offset: number,
    bytesMax: number,
  ): { ok: true; bytes: Buffer; info: FileInfo } | { ok: false; reason: ReadFailure };
  /** Calls back on changes in a directory; a hint only, the sweep is the truth. */
  watch(path: string, changed: (name: string | null) => void): { close(): void } | null;
}

export interface Pane {
  /** `%5`: tmux's own id, never a name. */
  id: string;
  session: string;
  windowIndex: number;
  paneIndex: number;
  pid: number;
  dead: boolean;
}

export type TmuxFailure = 'gone' | 'hung' | 'refused';

export interface TmuxServer {
  readonly socket: string;
  panes(): Promise<{ ok: true; panes: Pane[] } | { ok: false; reason: TmuxFailure }>;
  /** The visible page of a pane with its colours, null where there is none. */
  capture(pane: string): Promise<string | null>;
  close(): void;
}

export interface Tmux {
  sockets(): string[];
  open(socket: string, changed: () => void): TmuxServer;
}
