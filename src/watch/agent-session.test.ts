// The window of a session's context over a restart: the transcript does not name the larger variant of a model.
import { describe, expect, it } from 'vitest';
import { claudeCode } from '../clients/claude-code/client.ts';
import { valuesOf } from '../detect/checks.ts';
import type { AgentView } from '../model/agent.ts';
import { Counters } from '../model/counters.ts';
import type { StatusLine } from '../model/hook.ts';
import type { StoredAgent } from '../model/store.ts';
import type { Observation } from '../sense/agent-follower.ts';
import type { SeenAgent } from '../sense/fleet.ts';
import { AgentEvents } from './agent-events.ts';
import { AgentInbox } from './agent-inbox.ts';
import { AgentSession, type Look } from './agent-session.ts';
import { transcriptContext } from './agent-view.ts';

const model = 'claude-sonnet-4-5';
const seen = { client: claudeCode } as SeenAgent;

/** The windows of the points that a session is read up to, after an earlier run knew this of it. */
function windows(before: { session: string; model: string; window: number } | null, used: number[], line?: number) {
  const inbox = new AgentInbox(new Counters());
  if (line !== undefined) {
    const told = { sessionId: 's', window: line } as StatusLine;
    inbox.take([{ item: { kind: 'statusline', line: told }, atMs: 1, file: 'f', owner: told.owner }], 's');
  }
  const parts = { name: 'a', inbox, startedAtMs: 0, limits: () => valuesOf() };
  const session = new AgentSession(parts, new AgentEvents('h', 'a'));
  const look: Look = { heard: [], hooks: [], events: [], sessions: [], points: [], changed: false, more: false };
  const events = used.map((input, index) => ({
    event: {
      atMs: index + 1,
      key: String(index),
      fact: {
        kind: 'reply' as const,
        model,
        messageId: `${index}`,
        usage: { input, cacheRead: 0, cacheCreate: 0, output: 1 },
        ends: true,
        text: '',
      },
    },
    offset: index,
  }));
  const transcript = { path: '/t', inode: '1', size: 1_000, seenAtMs: 1 };
  const observation = { sessionId: 's', registry: null, transcript, events } as unknown as Observation;
  const context = before === null ? null : { used: 1, window: before.window };
  const view = { sessionId: before?.session, model: before?.model, context } as unknown as AgentView;
  const stored: StoredAgent | null = before === null ? null : { view, recorded: new Map(), hooks: [] };
  session.restart(observation, { view: null, stored }, 1, look);
  session.take(observation, (told) => transcriptContext(seen, session.facts, told), look);
  return look.points.map(({ window }) => window);
}

describe('the window of a session after a restart', () => {
  const large = { session: 's', model, window: 1_000_000 };
  it('is the one on record until the status line speaks again', () =>
    expect(windows(large, [150_000, 180_000])).toEqual([1_000_000, 1_000_000]));
  it('is what the status line says, once it does', () => expect(windows(large, [150_000], 200_000)).toEqual([200_000]));
  it('is what the name of the model says where nothing is on record', () =>
    expect(windows(null, [150_000])).toEqual([200_000]));
  it('is not that of another session, nor of another model', () => {
    expect(windows({ ...large, session: 'other' }, [150_000])).toEqual([200_000]);
    expect(windows({ ...large, model: 'claude-opus-4-8' }, [150_000])).toEqual([200_000]);
  });
  it('is the larger one for a figure beyond the one on record', () =>
    expect(windows({ ...large, window: 200_000 }, [150_000, 250_000])).toEqual([200_000, 1_000_000]));
});
