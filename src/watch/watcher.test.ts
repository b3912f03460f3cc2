import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { answers, byRegistry, hangs, inPane, pane, process, watching } from '../../test/runs/made-watcher.ts';
import { claudeCode } from '../clients/claude-code/client.ts';
import type { AgentView } from '../model/agent.ts';
import type { StoredAgent } from '../model/store.ts';
import type { SeenAgent } from '../sense/fleet.ts';

const stored = (view: AgentView): StoredAgent => ({ view, hooks: [], recorded: new Map() });
const { bootId, pid, startTicks } = process;
const before = (more: Partial<AgentView>) =>
  agentView('idle', null, 5, { agent: 'api-ps', process: { bootId, pid, startTicks }, ...more });

describe('an agent whose tmux server hangs', () => {
  const place = { socket: '/tmp/tmux-1/default', session: 'api-ps', pane: '%3' };

  it.each<[string, SeenAgent[]]>([
    ['found by its registry alone', [byRegistry]],
    ['not found at all', []],
  ])('keeps its place and what may be done to it: %s', async (_how, agents) => {
    const { tick } = watching();
    expect(await tick([inPane], [answers])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
    for (let n = 0; n < 3; n += 1)
      expect(await tick(agents, [hangs])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
    expect(await tick([inPane], [answers])).toMatchObject({ tmux: place, authority: 'manage' });
  });

  it('keeps it over a restart', async () => {
    const { watcher, tick } = watching();
    watcher.restore([stored(before({ tmux: place }))]);
    for (let n = 0; n < 3; n += 1)
      expect(await tick([byRegistry], [hangs])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
  });

  it('loses it when the server answers, and does not have it', async () => {
    const { tick } = watching();
    await tick([inPane], [answers]);
    expect(await tick([byRegistry], [answers])).toMatchObject({ tmux: null, authority: 'observe' });
    expect(await tick([inPane], [answers])).toMatchObject({ tmux: place });
  });

  it('is looked for elsewhere all the same', async () => {
    const { tick } = watching();
    await tick([inPane], [answers]);
    const moved = { ...inPane, place: { socket: '/tmp/tmux-1/other', pane } };
    expect((await tick([moved], [hangs, answers]))?.tmux?.socket).toBe('/tmp/tmux-1/other');
  });
});

describe('a record that is longer than one look takes in', () => {
  const sessionId = '0b7e8a52-0000-4000-8000-000000000000';
  const entry = { pid, sessionId, cwd: '/srv/api', procStart: startTicks, kind: 'interactive', status: 'idle' };
  const at = new Date(viewNowMs - 30_000).toISOString();
  const line = { type: 'user', timestamp: at, promptSource: 'typed', message: { content: 'x'.repeat(100_000) } };
  const record = Array.from({ length: 30 }, (_, n) => `${JSON.stringify({ ...line, uuid: `u${n}` })}\n`).join('');
  const registry = claudeCode.sources.registry.file('/home/u/.claude', pid);
  const transcript = claudeCode.sources.record.file('/home/u/.claude', '/srv/api', sessionId);

  it('is said to be behind until it is read to the end, and so long a single run waits', async () => {
    const texts = new Map([
      [registry, JSON.stringify(entry)],
      [transcript, record],
    ]);
    const { watcher, pulse, tick } = watching(texts);
    await tick([inPane], [answers]);
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([true, true]);
    pulse();
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([false, false]);
    const [view] = watcher.views();
    expect(view).toMatchObject({ sessionId, transcript });
  });

  it('nor is the session it changed to known before its record was looked at', async () => {
    const texts = new Map([
      [registry, JSON.stringify(entry)],
      [transcript, `${JSON.stringify({ ...line, uuid: 'u', message: { content: 'x' } })}\n`],
    ]);
    const { watcher, pulse, tick } = watching(texts);
    await tick([inPane], [answers]);
    expect(watcher.agent('api-ps')?.isBehind).toBe(false);
    const next = '0b7e8a52-1111-4000-8000-000000000000';
    texts.set(registry, JSON.stringify({ ...entry, sessionId: next, updatedAt: 1 }));
    await tick([inPane], [answers]);
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([true, true]);
    pulse();
    expect([watcher.agent('api-ps')?.isBehind, watcher.hasPending]).toEqual([false, false]);
    expect(watcher.views()[0]?.sessionId).toBe(next);
  });
});

describe('a turn that is over before anybody looks', () => {
  const sessionId = '0b7e8a52-0000-4000-8000-000000000000';
  const idle = { pid, sessionId, cwd: '/srv/api', procStart: startTicks, kind: 'interactive', status: 'idle' };
  const registry = claudeCode.sources.registry.file('/home/u/.claude', pid);
  const transcript = claudeCode.sources.record.file('/home/u/.claude', '/srv/api', sessionId);
  const turn = (atMs: number) => {
    const at = (ms: number) => new Date(atMs + ms).toISOString();
    const message = { model: 'm', id: `${atMs}`, stop_reason: 'end_turn', content: [{ type: 'text', text: 'done' }] };
    return [
      { type: 'user', uuid: `u${atMs}`, timestamp: at(-900), promptSource: 'typed', message: { content: 'go' } },
      { type: 'assistant', uuid: `a${atMs}`, timestamp: at(0), message },
    ]
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
  };
  const tenMinutesAgo = viewNowMs - 600_000;

  it.each<[string, number]>([
    ['by the registry, which was written anew', viewNowMs - 5_000],
    ['by the record, where the registry was not', tenMinutesAgo],
  ])('begins the time at the prompt anew: %s', async (_how, registeredMs) => {
    const texts = new Map([
      [registry, JSON.stringify({ ...idle, statusUpdatedAt: tenMinutesAgo })],
      [transcript, turn(tenMinutesAgo)],
    ]);
    const { tick } = watching(texts);
    await tick([inPane], [answers]);
    await tick([inPane], [answers]);
    expect((await tick([inPane], [answers]))?.reading).toMatchObject({ state: 'idle', sinceMs: tenMinutesAgo });
    texts.set(registry, JSON.stringify({ ...idle, statusUpdatedAt: registeredMs, updatedAt: viewNowMs }));
    texts.set(transcript, turn(tenMinutesAgo) + turn(viewNowMs - 5_000));
    expect((await tick([inPane], [answers]))?.reading).toMatchObject({ state: 'idle', sinceMs: viewNowMs - 5_000 });
  });
});

describe('a clock that is set back', () => {
  it('makes no agent wait anew that has waited for long', async () => {
    const waiting = { pid, sessionId: '0b7e8a52-0000-4000-8000-000000000000', cwd: '/srv/api', procStart: startTicks };
    const since = { kind: 'interactive', status: 'waiting', waitingFor: 'permission prompt' };
    const entry = { ...waiting, ...since, statusUpdatedAt: viewNowMs - 180_000 };
    const texts = new Map([[claudeCode.sources.registry.file('/home/u/.claude', pid), JSON.stringify(entry)]]);
    let nowMs = viewNowMs;
    let monotonicMs = 0;
    const { watcher, tick } = watching(texts, { nowMs: () => nowMs, monotonicMs: () => monotonicMs });
    const look = async () => {
      nowMs += 2_000;
      monotonicMs += 2_000;
      return (await tick([inPane], [answers]))?.findings.map(({ check }) => check);
    };
    await look();
    expect(await look()).toEqual(['waiting-human']);
    nowMs -= 7_200_000;
    watcher.clockSet(-7_200_000, nowMs);
    for (let n = 0; n < 5; n += 1) expect(await look()).toEqual(['waiting-human']);
  });
});
