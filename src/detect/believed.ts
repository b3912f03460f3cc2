import type { ScreenReading } from '../clients/client.ts';
import type { OffFacts, RegistryActivity, SourceFact } from '../model/agent.ts';
import type { HookFacts } from './hooks.ts';
import type { SessionFacts } from './session.ts';
import type { AgentSigns } from './state.ts';

type Off = ReadonlySet<SourceFact>;

/** The signs without what the sources tell wrongly in this version of the client: a fact of a source, not the source. */
export function believedSigns(signs: AgentSigns, off: OffFacts): AgentSigns {
  if (off.size === 0) return signs;
  const { registry, session, hooks, screen } = signs;
  const of = (source: 'registry' | 'transcript' | 'hook' | 'screen') => off.get(source) ?? none;
  const activity = registry === null ? null : believedActivity(registry.entry.activity, of('registry'));
  const transcript = of('transcript');
  return {
    ...signs,
    registry: registry === null || activity === null ? null : registry,
    // Whoever does not know when a turn runs cannot tell what happens in it.
    session:
      session === null || transcript.has('turns') ? null : { ...session, facts: factsIn(session.facts, transcript) },
    hooks: hooks === null || of('hook').has('turns') ? null : hooksIn(hooks, of('hook')),
    screen:
      screen === null || of('screen').has('turns')
        ? null
        : { ...screen, reading: readingIn(screen.reading, of('screen')) },
    subagents: transcript.has('subagents') ? new Map() : signs.subagents,
    compactAskedMs: transcript.has('compaction') ? null : signs.compactAskedMs,
    contextShare: transcript.has('compaction') ? null : signs.contextShare,
  };
}

/** null: it says nothing that counts. */
export function believedActivity(activity: RegistryActivity, off: Off): RegistryActivity | null {
  return off.has(activity.startsWith('waiting-') ? 'dialogs' : 'turns') ? null : activity;
}

function factsIn(facts: SessionFacts, off: Off): SessionFacts {
  return {
    ...facts,
    ...(off.has('tools') ? { calls: new Map() } : {}),
    ...(off.has('subagents') ? { background: new Map() } : {}),
    ...(off.has('retries') ? { retry: null, request: null } : {}),
    ...(off.has('limits') ? { limitResetsAtMs: null } : {}),
  };
}

function hooksIn(hooks: HookFacts, off: Off): HookFacts {
  return {
    ...hooks,
    ...(off.has('tools') ? { calls: new Map() } : {}),
    ...(off.has('subagents') ? { subagents: new Map() } : {}),
    ...(off.has('dialogs') ? { permission: null } : {}),
    ...(off.has('compaction') ? { compactingSinceMs: null } : {}),
  };
}

/** What its rows say beside that the client is busy. */
const rows: Partial<Record<ScreenReading['shows'], SourceFact>> = {
  retrying: 'retries',
  'api-stall': 'stalls',
  compacting: 'compaction',
};

function readingIn(reading: ScreenReading | null, off: Off): ScreenReading | null {
  if (reading === null) return null;
  const { shows } = reading;
  const isDialog = shows === 'permission' || shows === 'question' || shows === 'setup' || shows === 'dialog';
  if ((isDialog && off.has('dialogs')) || (shows === 'limited' && off.has('limits'))) return null;
  const row = rows[shows];
  return {
    ...reading,
    shows: row !== undefined && off.has(row) ? 'busy' : shows,
    tool: off.has('tools') ? null : reading.tool,
    subagents: off.has('subagents') ? null : reading.subagents,
  };
}

const none: Off = new Set();
