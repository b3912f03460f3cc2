import { isDeepStrictEqual } from 'node:util';
import { configDirKeys } from './clients.ts';
import { isInsidePath } from './fields.ts';
import { staysInside } from './places.ts';
import type { AgentRule, Config, FileConfig } from './schema.ts';
import { forKeys, forThresholds } from './thresholds.ts';

/** `prompt.minIntervalMinutes`: every value of the configuration; a list is one value. */
export type ConfigKey = Leaves<FileConfig>;
type Leaves<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends readonly unknown[]
    ? `${Prefix}${K}`
    : T[K] extends object
      ? Leaves<T[K], `${Prefix}${K}.`>
      : `${Prefix}${K}`;
}[keyof T & string];

/** What a project file may say about one value. */
interface Direction {
  /** The project's value where it is no looser than the machine's, else the machine's. */
  tighter(project: unknown, machine: unknown, directory: string): unknown;
  /** Completes "… is not allowed in a project file: ". */
  allowed(machine: unknown): string;
}

const machineOnly = null;

const notBelowMachine: Direction = {
  tighter: (project, machine) =>
    typeof project === 'number' && typeof machine === 'number' ? Math.max(project, machine) : project,
  allowed: (machine) => `at least ${machine}, the machine's value`,
};

/** `least`: that with which the least is done. */
function onlyDownTo(least: string): Direction {
  return {
    tighter: (project, machine) => (project === least ? project : machine),
    allowed: (machine) => (machine === least ? `${least}, the machine's value` : `${least}, or the machine's value`),
  };
}

/**
 * What a project file may say. It comes with a repository, perhaps a stranger's. It counts for the agents in its directory
 * only, and there only so that less is done, or later, and never so that a person is told less or later. A time after
 * which a check speaks is the machine's own: a longer one would keep a person from being told, a shorter one would have
 * agents prompted sooner. So is a pause between prompts: the word to a person waits for it as well.
 */
const directions: Record<ConfigKey, Direction | typeof machineOnly> = {
  // Its agents are then only observed; people are told as ever.
  mode: onlyDownTo('watch'),
  // How often everybody is looked at.
  tickSeconds: machineOnly,
  // One clock for the summaries of all agents.
  healthIntervalMinutes: machineOnly,
  // A shorter time would take records away, also other projects'.
  retentionDays: machineOnly,
  // One start for all projects; and as long as the rules wait, so does the word to a person.
  'start.firstQuietSeconds': machineOnly,
  'start.quietSeconds': machineOnly,
  // Rules of its own: the lower authority of both counts.
  agents: { tighter: (project) => project, allowed: () => 'rules' },
  // A longer pause would put off the word to a person that follows the prompts.
  'prompt.minIntervalMinutes': machineOnly,
  // As long as a prompt has to wait, so does the word to a person.
  'prompt.humanQuietSeconds': machineOnly,
  // Decides when `no-answer` is found.
  'prompt.answerSeconds': machineOnly,
  // When a check speaks decides when an agent is prompted, and when a person is told: more would be noise, less silence.
  ...forThresholds('spawn', machineOnly),
  // Asking less often only takes questions away.
  'spawn.progressMinutes': notBelowMachine,
  'spawn.progress': onlyDownTo('never'),
  ...forThresholds('stall', machineOnly),
  // A longer time mutes, a shorter one calls people about every dialog.
  ...forThresholds('waiting', machineOnly),
  'waiting.repeatMinutes': machineOnly,
  // As long as the work waits, so does the word to a person.
  'health.rate_limit_backoff_seconds': machineOnly,
  // The agents of all projects are counted together.
  ...forThresholds('judging', machineOnly),
  'judging.completion': machineOnly,
  // They decide when a handoff is asked for, when a person is told, and who accepts work.
  bands: machineOnly,
  // A later handoff; that the context is full is told by the bands.
  'handoff.atPercent': notBelowMachine,
  // A shorter one cuts handoffs off, a longer one puts off the word that one failed.
  'handoff.deadlineMinutes': machineOnly,
  // Where a document is written: never outside the project.
  'handoff.dir': {
    tighter: (project, machine, directory) =>
      typeof project === 'string' && isInsidePath(project) && staysInside(directory, project) ? project : machine,
    allowed: () => 'a path inside the project (relative, without .., through no link that leads out)',
  },
  // Places that all projects on one account share.
  'handoff.maxParallel': machineOnly,
  // Fewer handoffs.
  'handoff.compaction': onlyDownTo('leave'),
  // While it waits nobody is told that the context is full.
  'handoff.waitForBackground': machineOnly,
  // Commands and words of their own.
  'handoff.recipe': machineOnly,
  'handoff.recipes': machineOnly,
  // Programs, addresses and secrets.
  notify: machineOnly,
  // Words typed to agents, as if a person had typed them.
  'templates.spawnUpdate': machineOnly,
  'templates.spawnStalled': machineOnly,
  'templates.spawnFailed': machineOnly,
  'templates.spawnAbandoned': machineOnly,
  'templates.contextCheck': machineOnly,
  'templates.highContext': machineOnly,
  'templates.handoff': machineOnly,
  'templates.handoffAgain': machineOnly,
  'templates.handoffResume': machineOnly,
  'templates.continue': machineOnly,
  'templates.stalled': machineOnly,
  // Where agents are looked for.
  ...forKeys(configDirKeys, machineOnly),
};

export const configKeys = Object.keys(directions) as ConfigKey[];
/** What a project's file may say anything about. */
export const projectKeys = configKeys.filter((key) => directions[key] !== machineOnly);

/** Why a project file may not say this; null: it may. `machine` is null where the machine's own file is bad. */
export function refuseProjectValue(
  key: ConfigKey,
  value: unknown,
  machine: FileConfig | null,
  directory: string,
): string | null {
  const direction = directions[key];
  if (direction === machineOnly) return 'leave it to the machine file';
  const own = machine === null ? value : getKey(machine, key);
  return isDeepStrictEqual(direction.tighter(value, own, directory), value) ? null : direction.allowed(own);
}

/**
 * The machine's configuration with what a project's file says over it, for the agents of its directory. Looser values are
 * left out here too: the machine's may have changed since the file was found right.
 */
export function narrowed(machine: Config, values: ReadonlyMap<ConfigKey, unknown>, directory: string): Config {
  const config = structuredClone(machine);
  for (const [key, value] of values) {
    if (key === 'agents') config.projectAgents = value as AgentRule[];
    else if (key !== 'mode') {
      const tighter = directions[key]?.tighter(value, getKey(machine, key), directory);
      if (tighter !== undefined) setKey(config, key, tighter);
    }
  }
  // To hold back the mode would hold back what people are told.
  if (values.get('mode') === 'watch') config.projectAgents = [{ match: '*', authority: 'observe' }];
  return config;
}

export function getKey(config: FileConfig, key: ConfigKey): unknown {
  return key.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], config);
}

function setKey(config: Config, key: ConfigKey, value: unknown): void {
  const parts = key.split('.');
  const last = parts.pop() ?? key;
  const owner = parts.reduce<unknown>((inner, part) => (inner as Record<string, unknown>)[part], config);
  (owner as Record<string, unknown>)[last] = value;
}
