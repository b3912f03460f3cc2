import type { ClientName, RegistryActivity } from '../model/agent.ts';
import type { InboxItem } from '../model/hook.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { ProcessId, ProcessInfo } from '../model/world.ts';

/** How to read one kind of agent. Everything here is pure: text in, facts out. Adding a client is adding a folder. */
export interface AgentClient {
  readonly name: ClientName;
  /** The only variables of the agent's environment that are read: they say where its files are. */
  readonly environmentNames: readonly string[];
  /** `cwd`: what a relative path in it is relative to; null: nobody knows. */
  configDir(environment: Record<string, string>, cwd: string | null): string | null;
  defaultConfigDir(home: string): string;
  /** Cheap first look by the command's name; true for everything that may be the client. */
  mayBe(process: ProcessInfo): boolean;
  /** The shipped program itself, by where its binary lies. */
  isProgram(executable: string | null, words: string[] | null): boolean;
  registryFolder(configDir: string): string;
  registryFile(configDir: string, pid: number): string;
  parseRegistry(text: string): RegistryEntry | null;
  projectsFolder(configDir: string): string;
  transcriptFile(configDir: string, cwd: string, sessionId: string): string;
  transcriptName(sessionId: string): string;
  /** The session whose transcript has this file name; null: it is none. */
  sessionOf(fileName: string): string | null;
  parseTranscriptLine(line: string, place: string): ParsedLine;
  subagentFolder(transcript: string): string;
  subagentFiles(id: string): { transcript: string; meta: string };
  /** The subagent whose record has this file name; null: it is no record of one. */
  subagentOf(fileName: string): string | null;
  isSubagentFinished(meta: string): boolean;
  /** Where the client keeps what was typed into it. */
  historyFile(configDir: string): string;
  /** Only commands are taken; what else was typed is nobody's business here. */
  parseHistoryLine(line: string): { sessionId: string; command: string; atMs: number } | null;
  /** The client's box on a captured screen (`capture-pane -e`); null: it is not there. */
  findInputBox(screen: string): InputBox | null;
  /** What a captured screen says the client is doing; null: no rule knows this screen. */
  readScreen(screen: string): ScreenReading | null;
  contextWindow(model: string, used: number): { window: number; usable: number };
  /** Where it compacts by itself on this model, in tokens; null: it does not. */
  compactionPoint(model: string, window: number): number | null;
  /** One file of the hook inbox; null: it is none of this client's. */
  parseInboxFile(text: string): InboxItem | null;
}

/** What the client itself says it is doing. */
export interface RegistryEntry {
  pid: number;
  startTicks: string | null;
  sessionId: string;
  cwd: string | null;
  version: string | null;
  startedAtMs: number | null;
  interactive: boolean;
  activity: RegistryActivity;
  /** When the activity began. Not a heartbeat: it does not move during a long turn. */
  sinceMs: number | null;
}

/** After kill -9 the entry stays, and its pid may be another process by now. */
export function isEntryOf(entry: RegistryEntry, process: ProcessId): boolean {
  return entry.pid === process.pid && entry.startTicks === process.startTicks;
}

export type ParsedLine = { ok: true; events: SessionEvent[]; sidechain: boolean } | { ok: false };

export interface InputBox {
  /** What somebody typed into it. */
  text: string;
  /** How its first row begins, as no other row of any screen of the client does. */
  mark: string;
  /** The client keeps another text aside already; putting one more aside would lose it. */
  stashed: boolean;
  /** The command chosen in the menu over it, which Enter would run in place of what was typed; null: none is. */
  chosen: string | null;
}

export interface ScreenReading {
  /**
   * `box`: the input box is there and nothing tells busy from idle: not to be taken for idle. `dialog`: some dialog of
   * the client's own, or a box that is not the main conversation's: keys mean something else. `left`: the client is
   * not on this screen any more.
   */
  shows:
    | 'idle'
    | 'busy'
    | 'permission'
    | 'question'
    | 'setup'
    | 'dialog'
    | 'retrying'
    | 'api-stall'
    | 'compacting'
    | 'limited'
    | 'box'
    | 'left';
  /** The main conversation's input box is there and has the keys. */
  takesPrompts: boolean;
  /** The tool that runs or is asked for, where the client names it. */
  tool: string | null;
  /** Subagents at work. */
  subagents: number | null;
  contextLeft: { percent: number; of: 'usable' } | null;
  /** The row of a turn at work; null: there is none, or it tells of trouble. */
  turn: TurnRow | null;
  /** When a usage limit resets, in the client's words and the machine's own time zone. */
  resets: string | null;
}

/** The client draws it anew every second, so that one which stands still is a client that does. */
export interface TurnRow {
  text: string;
  /** What has come in so far, as it counts: tokens of the model, lines of a command. */
  counts: string;
  /** The model thinks: had it been silent for longer, the row would say so. null: it may do something else. */
  heardWithinMs: number | null;
}
