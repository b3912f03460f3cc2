import type { Command } from 'commander';

/** In the order of the help; each file under the name of its first command. */
const commands: Record<string, () => Promise<(program: Command) => void>> = {
  up: async () => (await import('./commands/up.ts')).addUp,
  down: async () => (await import('./commands/down.ts')).addDown,
  init: async () => (await import('./commands/init.ts')).addInit,
  uninstall: async () => (await import('./commands/uninstall.ts')).addUninstall,
  status: async () => (await import('./commands/status.ts')).addStatus,
  why: async () => (await import('./commands/why.ts')).addWhy,
  health: async () => (await import('./commands/health.ts')).addHealth,
  context: async () => (await import('./commands/context.ts')).addContext,
  'can-accept': async () => (await import('./commands/can-accept.ts')).addCanAccept,
  handoff: async () => (await import('./commands/handoff.ts')).addHandoff,
  handoffs: async () => (await import('./commands/handoffs.ts')).addHandoffs,
  'spawn-track': async () => (await import('./commands/spawn-track.ts')).addSpawnTrack,
  inbox: async () => (await import('./commands/inbox.ts')).addInbox,
  prompt: async () => (await import('./commands/prompt.ts')).addPrompt,
  prompts: async () => (await import('./commands/prompts.ts')).addPrompts,
  compact: async () => (await import('./commands/compact.ts')).addCompact,
  interrupt: async () => (await import('./commands/interrupt.ts')).addInterrupt,
  audit: async () => (await import('./commands/audit.ts')).addAudit,
  events: async () => (await import('./commands/events.ts')).addEvents,
  pause: async () => (await import('./commands/pause.ts')).addPause,
  authority: async () => (await import('./commands/authority.ts')).addAuthority,
  check: async () => (await import('./commands/check.ts')).addCheck,
  replay: async () => (await import('./commands/replay.ts')).addReplay,
  eval: async () => (await import('./commands/eval.ts')).addEval,
  accuracy: async () => (await import('./commands/accuracy.ts')).addAccuracy,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  conformance: async () => (await import('./commands/conformance.ts')).addConformance,
  config: async () => (await import('./commands/config.ts')).addConfig,
  redact: async () => (await import('./commands/redact.ts')).addRedact,
  db: async () => (await import('./commands/db.ts')).addDb,
};

export function isCommand(word: string | undefined): word is string {
  return word !== undefined && Object.hasOwn(commands, word);
}

/** Loads only the command that was called, where its name says which that is: all of them take longer than most run. */
export async function addCommands(program: Command, word: string | undefined): Promise<void> {
  const called = isCommand(word) ? [commands[word]] : Object.values(commands);
  for (const load of called) (await load?.())?.(program);
}
