import type { ClientName, RegistryActivity, Source } from '../model/agent.ts';
import type { HookInboxItem } from '../model/hook.ts';
import type { RunLine } from '../model/run-event.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { UntrustedText } from '../model/text.ts';
import type { ProcessId, ProcessInfo } from '../model/world.ts';
import type { ToolNames } from './acts.ts';
import type { Installer, Permissions } from './installer.ts';
import type { JsonObject } from './json.ts';
import type { Excuses } from './signs.ts';

/**
 * One kind of agent, by what it can do: how it is recognised, what tells of it, and how it is typed to. Everything here
 * is pure: text in, facts out. What a client lacks is absent. Adding one is adding a folder and a line in `clients.ts`.
 */
export interface AgentClient {
  readonly name: ClientName;
  /** For people. */
  readonly title: string;
  readonly recognition: Recognition;
  readonly sources: Sources;
  readonly dialect: Dialect;
  /** What its models hold, where its own records do not say so. */
  readonly models: Models;
  /** What tools of its own are for, where many clients have no tool of that name. */
  readonly tools?: ToolNames;
  /** What its results say of errors that are not the agent's. */
  readonly excuses?: Excuses;
  /** Its key under `clients:` in the configuration, where further config directories are named; absent: none can be.
   * It belongs into the type of the client, too: then the configuration is checked with it. */
  readonly configKey?: string;
  readonly runs?: RunSource;
  /** How `init` gets our hooks into its settings. */
  readonly installer?: Installer;
  /** How a hook lets it write a file for which it would ask. */
  readonly permissions?: Permissions;
  /** How a person goes on with a session that ended, in a shell in its directory; absent: nobody can. */
  readonly resume?: (ended: EndedSession) => ShellCommand;
  /** How `conformance` tries it out. Only then it is loaded, and only there it may reach beyond text. */
  readonly trial?: () => Promise<Trial>;
}

/** A client that is not watched: only its runs on record are read. */
export interface RecordedClient {
  readonly name: ClientName;
  /** For people. */
  readonly title: string;
  readonly excuses?: Excuses;
  readonly runs: RunSource;
}

/** How `replay` reads what the client has recorded. */
export interface RunSource {
  /** For people: `transcript`. */
  readonly noun: string;
  /** Where it keeps the user's own; `configDirs`: further ones of the configuration. */
  folders(home: string, configDirs: readonly string[]): string[];
  /** Is this a line of a record of the client's? */
  isRecord(line: JsonObject): boolean;
  /** `again`: reads a part of the line once more, later; null: it cannot be had again. */
  parseLine(line: Buffer, index: number, again: LineAgain | null): RunLine;
}

export type LineAgain = (from: number, to: number) => Buffer | null;

export interface EndedSession {
  readonly sessionId: string;
  /** Its file; null: nobody knows. */
  readonly record: string | null;
  /** The user's home directory; null: nobody knows. */
  readonly home: string | null;
}

export interface ShellCommand {
  readonly variables: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
}

interface Recognition {
  /** Its program, as it is called on the PATH. */
  readonly program: string;
  /** The only variables of the agent's environment that are read: they say where its files are. */
  readonly environmentNames: readonly string[];
  /** `cwd`: what a relative path in it is relative to; null: nobody knows. */
  configDir(environment: Record<string, string>, cwd: string | null): string | null;
  defaultConfigDir(home: string): string;
  /** Cheap first look by the command's name; true for everything that may be the client. */
  mayBe(process: ProcessInfo): boolean;
  /** The shipped program itself, by where its binary lies. */
  isProgram(executable: string | null, words: string[] | null): boolean;
}

/** What tells of the client, in the order in which it is believed. */
export interface Sources {
  /** What the client itself says it is doing, one file a process. */
  readonly registry?: RegistrySource;
  /** What was said and done, one file a session. */
  readonly record?: RecordSource;
  readonly subagents?: SubagentSource;
  /** What the client runs when something happens, left in the inbox. */
  readonly hooks?: InboxSource;
  readonly statusLine?: InboxSource;
  readonly typedHistory?: TypedHistorySource;
  readonly screen?: ScreenSource;
}

export interface RegistrySource {
  folder(configDir: string): string;
  file(configDir: string, pid: number): string;
  /** The process whose entry has this file name; null: it is none. */
  pidOf(fileName: string): number | null;
  parse(text: string): RegistryEntry | null;
}

export interface RecordSource {
  /** Its folders are the directories that were worked in. */
  root(configDir: string): string;
  file(configDir: string, cwd: string, sessionId: string): string;
  fileName(sessionId: string): string;
  /** The session whose record has this file name; null: it is none. */
  sessionOf(fileName: string): string | null;
  parseLine(line: string, place: string): ParsedLine;
}

export interface SubagentSource {
  folder(record: string): string;
  files(id: string): { record: string; meta: string };
  /** The subagent whose record has this file name; null: it is no record of one. */
  idOf(fileName: string): string | null;
  isFinished(meta: string): boolean;
}

interface InboxSource {
  /** One file of the inbox; null: it is none of this client's. */
  parse(text: string): HookInboxItem | null;
}

export interface TypedHistorySource {
  file(configDir: string): string;
  /** Only commands are taken; what else was typed is nobody's business here. */
  parseLine(line: string): { sessionId: string; command: string; atMs: number } | null;
}

export interface ScreenSource {
  /** What a captured screen (`capture-pane -e`) says the client is doing; null: no rule knows this screen. */
  read(screen: string): ScreenReading | null;
}

interface Models {
  contextWindow(model: string, used: number): { window: number; usable: number };
  /** Where it compacts by itself on this model, in tokens; null: it does not. */
  compactionPoint(model: string, window: number): number | null;
}

/** How the client is typed to. */
export interface Dialect {
  /** The client's box on a captured screen (`capture-pane -e`); null: it is not there. */
  findInputBox(screen: string): InputBox | null;
  /** By tmux's names. */
  readonly keys: {
    readonly submit: string;
    /** Takes out a row of the box, or the break before it. */
    readonly clearRow: string;
    /** Puts what is in the box aside, and brings it back; absent: a draft is never typed over. */
    readonly stash?: string;
    /** Ends the turn that runs. */
    readonly interrupt: string;
  };
  /** What the box shows instead of a long paste. */
  readonly pasteChip?: {
    /** How many line breaks it stands for; null: the box shows something else. `shown`: without its blanks. */
    breaks(shown: string): number | null;
    /** A part of it that stands in one row. */
    readonly mark: string;
  };
  /** The client's own commands, as far as they are typed. */
  readonly commands: {
    readonly clear?: ClientCommand;
    readonly compact?: ClientCommand;
    /** Brings back the session with exactly this id. */
    resume?(sessionId: string): ClientCommand;
  };
  /** The client's own command that this name is, or might be completed to in its box; null: none is. */
  ownCommandFor(name: string): string | null;
}

export interface ClientCommand {
  readonly text: string;
  /** How it ends, without blanks: by this it is known again in the box. */
  readonly mark: string;
  /** `session`: the agent is in another one then; `history`: the client's history of what was typed has it. */
  readonly provedBy: 'session' | 'history';
}

/** The client taken through its states in a world of its own: a part of `conform` that lies in the client's folder. */
export interface Trial {
  /** By source and step of `conform/steps.ts`: the words that count as right; what is not here, the source cannot tell. */
  readonly signals: Readonly<Partial<Record<Source, Readonly<Record<string, readonly string[]>>>>>;
  startModel(): Promise<TrialModel>;
  /** All its states, in one of the ways of `conform/setup.ts` to set it up; whatever cannot be played, the rest is. */
  play(stage: { world: object; sampler: object; program: string }, setup: { name: string }): Promise<Unplayed[]>;
}

/** What this version could not be taken through: nobody knows more of it than before. */
export interface Unplayed {
  scenario: string;
  reason: string;
}

/** A model on loopback that does what it is told, in the place of the service. */
export interface TrialModel {
  /** To be set as the proxy of everything that is not loopback: nothing gets through, and `outside` says who tried. */
  readonly proxyUrl: string;
  readonly outside: string[];
  close(): Promise<void>;
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
  resets: UntrustedText | null;
  /** What stands in a dialog above its choices, as far as the screen has it; absent: there is none. */
  asks?: UntrustedText;
}

/** The client draws it anew every second, so that one which stands still is a client that does. */
export interface TurnRow {
  text: UntrustedText;
  /** What has come in so far, as it counts: tokens of the model, lines of a command. */
  counts: string;
  /** The model thinks: had it been silent for longer, the row would say so. null: it may do something else. */
  heardWithinMs: number | null;
}
