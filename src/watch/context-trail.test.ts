import { describe, expect, it } from 'vitest';
import { newSession, takeEvent } from '../detect/session.ts';
import type { ContextReading } from '../model/agent.ts';
import type { SessionEvent, SessionFact } from '../model/session-event.ts';
import type { ContextPoint } from '../model/store.ts';
import { untrusted } from '../model/text.ts';
import { ContextTrail } from './context-trail.ts';

function reply(used: number): SessionFact {
  const usage = { input: used, cacheRead: 0, cacheCreate: 0, output: 1 };
  return { kind: 'reply', model: 'm', messageId: 'x', usage, ends: true, text: untrusted('') };
}
const compacted = (tokensAfter: number | null): SessionFact => ({
  kind: 'compacted',
  trigger: 'auto',
  tokensBefore: 90_000,
  tokensAfter,
});

/** The points of a session that says these things, a second each. */
function pointsOf(facts: SessionFact[], known: { used: number; window: number } | null = null): ContextPoint[] {
  const trail = new ContextTrail('a');
  trail.begin('s', known);
  const session = newSession();
  return facts.flatMap((fact, index) => {
    const event: SessionEvent = { atMs: (index + 1) * 1000, key: String(index), fact };
    takeEvent(session, event);
    return trail.told(event, reading(session.contextUsed, session.contextAtMs), session);
  });
}

function reading(used: number | null, atMs: number | null): ContextReading | null {
  if (used === null || atMs === null) return null;
  return { used, window: 200_000, usable: 180_000, percent: used / 2_000, source: 'transcript', atMs };
}

describe('a point of the context history', () => {
  it('comes with every figure that changes', () =>
    expect(pointsOf([reply(1), reply(1), reply(2), reply(1)]).map(({ used, atMs }) => [used, atMs])).toEqual([
      [1, 1000],
      [2, 3000],
      [1, 4000],
    ]));
  it('says that the client compacted, and from where', () =>
    expect(pointsOf([reply(80_000), compacted(9_000), reply(9_500)])).toMatchObject([
      { used: 80_000, compacted: null, usedBefore: null },
      { used: 9_000, compacted: 'auto', usedBefore: 90_000 },
      { used: 9_500, compacted: null },
    ]));
  it('says so with the next figure where the client does not tell the result', () =>
    expect(pointsOf([reply(80_000), compacted(null), reply(9_500)])).toMatchObject([
      { used: 80_000 },
      { used: 9_500, compacted: 'auto', usedBefore: 80_000 },
    ]));
  it('does not come for what is on record', () =>
    expect(pointsOf([reply(7)], { used: 7, window: 200_000 })).toEqual([]));
  it('comes by the status line only where that says something new', () => {
    const trail = new ContextTrail('a');
    trail.begin('s', { used: 7, window: 200_000 });
    const line = { used: 7, window: 200_000, usable: 180_000, percent: 0, source: 'statusline' as const, atMs: 5 };
    expect(trail.seen(line, newSession())).toEqual([]);
    expect(trail.seen({ ...line, window: 1_000_000 }, newSession())).toMatchObject([{ window: 1_000_000, atMs: 5 }]);
  });
  it('is kept, a hundred of the present session', () => {
    const trail = new ContextTrail('a');
    trail.begin('s', { used: 150, window: 200_000 });
    for (let used = 1; used <= 150; used += 1) trail.seen(reading(used, used) as ContextReading, newSession());
    expect(trail.points.map(({ used }) => used)).toEqual(Array.from({ length: 100 }, (_, index) => index + 51));
    trail.begin('t', null);
    expect(trail.points).toEqual([]);
  });
  it('does not come without a session', () => {
    const trail = new ContextTrail('a');
    trail.begin(null, null);
    expect(trail.seen(reading(5, 5) as ContextReading, newSession())).toEqual([]);
  });
});
