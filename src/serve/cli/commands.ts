import type { Command } from 'commander';
import { examplesText } from './help/examples.ts';

type Adder = (program: Command) => void;
type Loader = () => Promise<Adder>;

/** By what somebody wants to do, those of a normal day first; each file under the name of its first command. */
const groups: Record<string, Record<string, Loader>> = {
  'On a normal day:': {
    up: async () => (await import('./commands/up.ts')).addUp,
    status: async () => (await import('./commands/status.ts')).addStatus,
    inbox: async () => (await import('./commands/inbox.ts')).addInbox,
    why: async () => (await import('./commands/why.ts')).addWhy,
    prompt: async () => (await import('./commands/prompt.ts')).addPrompt,
    handoff: async () => (await import('./commands/handoff.ts')).addHandoff,
    pause: async () => (await import('./commands/pause.ts')).addPause,
    down: async () => (await import('./commands/down.ts')).addDown,
  },
  'Look closer:': {
    health: async () => (await import('./commands/health.ts')).addHealth,
    events: async () => (await import('./commands/events.ts')).addEvents,
    context: async () => (await import('./commands/context.ts')).addContext,
    handoffs: async () => (await import('./commands/handoffs.ts')).addHandoffs,
    prompts: async () => (await import('./commands/prompts.ts')).addPrompts,
    audit: async () => (await import('./commands/audit.ts')).addAudit,
    accuracy: async () => (await import('./commands/accuracy.ts')).addAccuracy,
  },
  'Say what may be done, and do it:': {
    authority: async () => (await import('./commands/authority.ts')).addAuthority,
    'can-accept': async () => (await import('./commands/can-accept.ts')).addCanAccept,
    compact: async () => (await import('./commands/compact.ts')).addCompact,
    interrupt: async () => (await import('./commands/interrupt.ts')).addInterrupt,
    'spawn-track': async () => (await import('./commands/spawn-track.ts')).addSpawnTrack,
    check: async () => (await import('./commands/check.ts')).addCheck,
  },
  'Set up, and when something seems wrong:': {
    init: async () => (await import('./commands/init.ts')).addInit,
    uninstall: async () => (await import('./commands/uninstall.ts')).addUninstall,
    config: async () => (await import('./commands/config.ts')).addConfig,
    doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
    conformance: async () => (await import('./commands/conformance.ts')).addConformance,
    help: async () => (await import('./commands/help.ts')).addHelp,
  },
  'Runs and rows on record:': {
    replay: async () => (await import('./commands/replay.ts')).addReplay,
    eval: async () => (await import('./commands/eval.ts')).addEval,
    db: async () => (await import('./commands/db.ts')).addDb,
    redact: async () => (await import('./commands/redact.ts')).addRedact,
  },
};

const commands: Record<string, Loader> = Object.assign({}, ...Object.values(groups));

export function isCommand(word: string | undefined): word is string {
  return word !== undefined && Object.hasOwn(commands, word);
}

/** Loads only the command that was called, where its name says which that is: all of them take longer than most run. */
export async function addCommands(program: Command, word: string | undefined): Promise<void> {
  program.helpCommand(false);
  for (const [title, members] of Object.entries(groups)) {
    const called = isCommand(word) ? [members[word]] : Object.values(members);
    for (const load of called) {
      const known = program.commands.length;
      (await load?.())?.(program);
      for (const added of program.commands.slice(known)) {
        added.helpGroup(title);
        addExamples(added, added.name());
      }
    }
  }
}

function addExamples(command: Command, name: string): void {
  command.addHelpText('after', () => examplesText(name));
  for (const child of command.commands) addExamples(child, `${name} ${child.name()}`);
}
