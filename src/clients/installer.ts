import type { Json } from '../model/event.ts';
import type { Result } from '../model/result.ts';

/** How hooks of ours, and a word to the agent, get into a client's own files. Text in, facts or text out. */
export interface Installer {
  /** What the hooks and the status line run; `inbox`: where it leaves its events. */
  script(inbox: string, allowances: string): string;
  /** The events that hooks are installed for: all there are, and those that a client of this version knows. */
  readonly events: readonly string[];
  eventsFor(version: string | null): readonly string[];
  readonly settings: Settings;
  readonly instructions: Instructions;
  readonly versions: Versions;
  /** For people: what to know once they are in, and what a status line of ours costs. */
  readonly notes: { readonly installed: string; readonly statusLine: string };
}

interface Settings {
  /** In a config directory: the user's own. */
  readonly ofUser: string;
  /** In a directory that is worked in: the one that is written, and another that counts there. */
  readonly ofProject: string;
  readonly shared: string;
  view(text: string): Result<SettingsView, BadSettings>;
  /** Puts in what is missing and takes out what an older version put there; the same text where all is as wanted. */
  add(text: string, wanted: WantedSettings): Result<string, BadSettings>;
  /** `before`: the text from before `add`, where it is known: what was empty already stays. */
  remove(text: string, script: string, before: string | null): Result<string, BadSettings>;
  /** Nothing is left in it that anybody could miss. */
  isEmpty(text: string): boolean;
}

/** What settings say that matters here. */
export interface SettingsView {
  /** Scripts of Watchkeeper homes, each with the events it is there for. */
  scripts: Map<string, Set<string>>;
  /** The script the status line goes through; null where it is somebody else's or there is none. */
  statusLineScript: string | null;
  /** As it stands there; `other` where it is no command. */
  statusLine: StatusLineCommand | 'other' | null;
  /** The key that keeps all hooks from running; null: they run. */
  hooksDisabled: string | null;
  /** Something of its own allows writing files, all or some. */
  allowsWriting: boolean;
  /** With either in it the client skips the whole file. */
  lenient: 'comments' | 'trailing commas' | null;
}

export interface StatusLineCommand {
  command: string;
  /** All of it, with the fields that say how it is shown. */
  fields: { [key: string]: Json };
}

export interface WantedSettings {
  script: string;
  events: readonly string[];
  /** add: also where none is; then it goes around `below`, the one that counted so far. */
  statusLine: 'chain' | 'add';
  below: StatusLineCommand | null;
}

export type BadSettings = 'not-json' | 'wrong-shape';

export function isCommand(line: SettingsView['statusLine']): line is StatusLineCommand {
  return line !== null && line !== 'other';
}

/** A block for agents in the files that the client gives its model to read. */
interface Instructions {
  /** The client's own file, and one that many clients read. */
  readonly files: readonly [own: string, common: string];
  /** With the block of this version, in the place of an older one or at the end; the same text where it is there. */
  add(text: string): Result<string, 'broken-block'>;
  remove(text: string): Result<string, 'broken-block'>;
  has(text: string): boolean;
}

/** By what an installed client tells its version: nothing of it is run. */
export interface Versions {
  /** The package it comes in. */
  readonly npmPackage: string;
  /** Where else it may be, below the user's home. */
  readonly places: readonly string[];
  /** By where its program really lies; null: that does not tell. */
  ofPlace(program: string): string | null;
}

/** How an agent that asks before it writes a file may be let, once, by the answer of a hook. */
export interface Permissions {
  /** The event that asks. */
  readonly event: string;
  /** An event that asks for nothing but to write one file; null for anything else. */
  writeRequest(text: string): WriteRequest | null;
  /** What a hook answers to let it. It changes no rule: the next request is asked for anew. */
  readonly allow: string;
  /** Does the session ask before it writes any file, as these lines of its record have it last? null: they do not say. */
  asksToWrite(lines: string): boolean | null;
}

/** One file that the conversation itself wants to write, and nothing beside. */
export interface WriteRequest {
  sessionId: string;
  file: string;
}
