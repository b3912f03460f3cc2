// A fact that a source tells wrongly in some version is left out; what else that source tells still counts.
import { describe, expect, it } from 'vitest';
import type { ScreenReading } from '../clients/client.ts';
import type { RegistryActivity, Source, SourceFact } from '../model/agent.ts';
import type { SessionFact } from '../model/session-event.ts';
import { believedSigns } from './believed.ts';
import { newHookFacts, takeHook } from './hooks.ts';
import { newSession, takeEvent } from './session.ts';
import { type AgentSigns, judgeState } from './state.ts';

const nowMs = 1_000_000;

function signs(more: Partial<AgentSigns>): AgentSigns {
  const none = { registry: null, session: null, hooks: null, screen: null, compactAskedMs: null, contextShare: null };
  return { nowMs, alive: true, processSeenAtMs: nowMs, suspended: false, subagents: new Map(), ...none, ...more };
}

function registry(activity: RegistryActivity): Partial<AgentSigns> {
  const place = { pid: 1, startTicks: '1', sessionId: 'a', cwd: '/p', version: '1', startedAtMs: 0, interactive: true };
  return { registry: { entry: { ...place, activity, sinceMs: nowMs - 5_000 }, seenAtMs: nowMs } };
}

function transcript(...facts: SessionFact[]): Partial<AgentSigns> {
  const session = newSession();
  facts.forEach((fact, n) => {
    takeEvent(session, { atMs: nowMs - 4_000 + n, key: `${n}`, fact });
  });
  return { session: { facts: session, seenAtMs: nowMs } };
}

function screen(shows: ScreenReading['shows']): Partial<AgentSigns> {
  const nothing = { tool: null, subagents: null, contextLeft: null, turn: null, resets: null };
  const reading = { shows, takesPrompts: true, ...nothing };
  return { screen: { reading, sinceMs: nowMs - 3_000, atMs: nowMs, drawnMs: null, countedMs: null } };
}

function askedPermission(): Partial<AgentSigns> {
  const hooks = newHookFacts();
  takeHook(hooks, { kind: 'prompt', chars: 1, tags: [] }, null, nowMs - 4_000);
  takeHook(hooks, { kind: 'permission', tool: 'Bash', asks: null }, null, nowMs - 3_000);
  return { hooks };
}

const prompt: SessionFact = { kind: 'prompt', origin: 'typed', chars: 2, tags: [] };
const call: SessionFact = { kind: 'tool-call', id: '1', tool: 'Bash', about: null };

const asked: Partial<AgentSigns> = { compactAskedMs: nowMs - 4_000 };

describe('a fact of a source that is switched off', () => {
  const cases: [string, Source, SourceFact, Partial<AgentSigns>, string, string][] = [
    [
      'compaction',
      'transcript',
      'compaction',
      { ...registry('busy'), ...transcript(), ...asked },
      'compacting',
      'working/thinking',
    ],
    [
      'a tool',
      'transcript',
      'tools',
      { ...registry('busy'), ...transcript(prompt, call) },
      'working/tool',
      'working/thinking',
    ],
    [
      'the same, and the turn counts',
      'transcript',
      'tools',
      transcript(prompt, call),
      'working/tool',
      'working/thinking',
    ],
    ['turns, and so all of it', 'transcript', 'turns', transcript(prompt, call), 'working/tool', 'unknown/unreadable'],
    [
      'turns of the registry',
      'registry',
      'turns',
      { ...registry('idle'), ...transcript(prompt) },
      'idle',
      'working/thinking',
    ],
    [
      'turns, and its dialogs count',
      'registry',
      'turns',
      registry('waiting-permission'),
      'waiting/permission',
      'waiting/permission',
    ],
    ['dialogs, and its turns count', 'registry', 'dialogs', registry('idle'), 'idle', 'idle'],
    ['dialogs', 'registry', 'dialogs', registry('waiting-permission'), 'waiting/permission', 'unknown/unreadable'],
    ['a dialog by a hook', 'hook', 'dialogs', askedPermission(), 'waiting/permission', 'working/thinking'],
    ['retries', 'screen', 'retries', screen('retrying'), 'retrying', 'working/thinking'],
    ['dialogs on the screen', 'screen', 'dialogs', screen('permission'), 'waiting/permission', 'unknown/unreadable'],
  ];
  it.each(cases)('%s', (_what, source, fact, given, before, after) => {
    const said = (off: [Source, Set<SourceFact>][]) => {
      const { state, detail } = judgeState(believedSigns(signs(given), new Map(off)));
      return detail === null ? state : `${state}/${detail}`;
    };
    expect([said([]), said([[source, new Set([fact])]])]).toEqual([before, after]);
  });
});
