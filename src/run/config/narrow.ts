import { isInsidePath } from './fields.ts';
import type { Config, FileConfig } from './schema.ts';

/** `prompt.minIntervalMinutes`: every value of the configuration; a list is one value. */
export type ConfigKey = Leaves<FileConfig>;
type Leaves<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends readonly unknown[]
    ? `${Prefix}${K}`
    : T[K] extends object
      ? Leaves<T[K], `${Prefix}${K}.`>
      : `${Prefix}${K}`;
}[keyof T & string];

/** Says why a project file may not set this, or null. `machine` is null when the machine's own file is bad. */
type Rule = (value: unknown, machine: unknown) => string | null;

const free: Rule = () => null;

const machineOnly: Rule = () => 'leave it to the machine file';

const notBelowMachine: Rule = (value, machine) =>
  typeof machine === 'number' && Number(value) < machine ? `at least ${machine}, the machine's value` : null;

const notAboveMachine: Rule = (value, machine) =>
  typeof machine === 'number' && Number(value) > machine ? `at most ${machine}, the machine's value` : null;

/**
 * What a project file may say. It comes with a repository, perhaps a stranger's, and the daemon started there watches
 * other projects too. So it may move what is noticed and when, and may only tighten what is done: less authority,
 * fewer and later prompts and handoffs, no receiver, command, path, URL or wording of its own, no say in how long records live.
 */
const projectRules: Record<ConfigKey, Rule> = {
  mode: (value, machine) => (value === 'act' && machine === 'watch' ? "watch, the machine's value" : null),
  tickSeconds: free,
  healthIntervalMinutes: free,
  retentionDays: machineOnly,
  // Taken apart from the machine's rules, and the lower of both counts.
  agents: free,
  'prompt.minIntervalMinutes': notBelowMachine,
  'prompt.humanQuietSeconds': notBelowMachine,
  'prompt.answerSeconds': free,
  'spawn.stallMinutes': free,
  'spawn.abandonMinutes': free,
  'spawn.progressMinutes': notBelowMachine,
  'spawn.progress': (value, machine) =>
    value === 'never' || value === machine ? null : "never, or the machine's value",
  'stall.thinkingMinutes': free,
  'stall.toolMinutes': free,
  'stall.mcpMinutes': free,
  'stall.subagentMinutes': free,
  'waiting.notifyMinutes': free,
  'waiting.repeatMinutes': notBelowMachine,
  'health.rate_limit_backoff_seconds': notBelowMachine,
  'judging.startMinutes': free,
  'judging.completion': free,
  'judging.completionMinutes': free,
  'judging.massCount': free,
  'judging.massPercent': free,
  'judging.massMinutes': free,
  'judging.sameFile': free,
  'judging.errorFactor': free,
  'judging.burnTokens': free,
  'judging.costFactor': free,
  'judging.cachePercent': free,
  'judging.efficiencyFactor': free,
  'judging.decayTokens': free,
  'judging.entropyPercent': free,
  bands: free,
  'handoff.atPercent': notBelowMachine,
  'handoff.deadlineMinutes': free,
  'handoff.dir': (value) =>
    typeof value === 'string' && isInsidePath(value) ? null : 'a path inside the project (relative, without ..)',
  'handoff.maxParallel': notAboveMachine,
  'handoff.compaction': (value, machine) =>
    value === 'leave' || value === machine ? null : "leave, or the machine's value",
  'handoff.waitForBackground': (value, machine) =>
    value === true || value === machine ? null : "true, or the machine's value",
  // Commands and words of their own.
  'handoff.recipe': machineOnly,
  'handoff.recipes': machineOnly,
  notify: machineOnly,
  // Words typed to the agents of every project, as if a person had typed them.
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
  'clients.claudeCode.configDirs': machineOnly,
};

export const configKeys = Object.keys(projectRules) as ConfigKey[];

export function refuseProjectValue(key: ConfigKey, value: unknown, machine: unknown): string | null {
  return projectRules[key](value, machine);
}

export function getKey(config: FileConfig, key: ConfigKey): unknown {
  return key.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], config);
}

export function setKey(config: Config, key: ConfigKey, value: unknown): void {
  const parts = key.split('.');
  const last = parts.pop() ?? key;
  const owner = parts.reduce<unknown>((inner, part) => (inner as Record<string, unknown>)[part], config);
  (owner as Record<string, unknown>)[last] = value;
}
