import { compare, numbersOf } from '../versions.ts';
import { hookEvents } from './hooks.ts';

/** With it an agent that asks before it writes may be let, once, for the document it was asked for. */
export const permissionEvent = 'PermissionRequest';

/**
 * From which version on the client knows an event; those not named here the first release with hooks knew. A client asks
 * at every start about settings with an event it does not know. Read from the lists in the releases 2.0.0, 2.0.45, 2.0.60,
 * 2.1.50, 2.1.100, 2.1.150, 2.1.225 and 2.1.275, so a release in between may know it too; 2.1.200, 2.1.250, 2.1.300 and
 * the newest are started with what they get in test/long/hook-versions.test.ts.
 */
const knownSince: Record<string, string> = {
  SubagentStart: '2.0.45',
  [permissionEvent]: '2.0.45',
  PostToolUseFailure: '2.0.60',
  Setup: '2.1.50',
  TeammateIdle: '2.1.50',
  TaskCompleted: '2.1.50',
  ConfigChange: '2.1.50',
  StopFailure: '2.1.100',
  PostCompact: '2.1.100',
  PermissionDenied: '2.1.100',
  TaskCreated: '2.1.100',
  Elicitation: '2.1.100',
  ElicitationResult: '2.1.100',
  InstructionsLoaded: '2.1.100',
  CwdChanged: '2.1.100',
  FileChanged: '2.1.100',
  PostToolBatch: '2.1.150',
  UserPromptExpansion: '2.1.150',
  DirectoryAdded: '2.1.225',
  PreModelSwitch: '2.1.275',
  PostModelSwitch: '2.1.275',
};

/** The events a client of this version knows; of an unknown version, those that all know. */
export function eventsFor(version: string | null): readonly string[] {
  const numbers = version === null ? null : numbersOf(version);
  return hookEvents.filter((event) => {
    const since = numbersOf(knownSince[event] ?? '0.0.0');
    return since !== null && compare(since, numbers ?? [0, 0, 0]) <= 0;
  });
}
