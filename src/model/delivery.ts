import type { RegistryActivity } from './agent.ts';

/** The agent as it is in this very moment, read afresh. */
export interface FreshLook {
  /** The recorded process, by pid and start time. */
  alive: boolean;
  /** It reads from its terminal now: its process group is the foreground one and it is not stopped. */
  foreground: boolean;
  /** null: it has no registry entry, and nothing else says enough. */
  activity: RegistryActivity | null;
  /** Its screen is one of those before the first prompt. */
  atSetup: boolean;
  /** The client reads what is typed into the pane: it is the pane's own process or below it, and in the same terminal. */
  inPane: boolean;
}

export interface PaneFacts {
  pid: number;
  dead: boolean;
  /** tmux's name of the mode it is in; empty in none. */
  mode: string;
  synchronized: boolean;
  /** People who look at this pane and when they last pressed a key. */
  people: { activeAtMs: number }[];
  /** A client in control mode that may write has this pane: what it types is not told from what a program types. */
  controlled: boolean;
}
