import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { answers, hangs, inPane, pane, process, watching } from '../../test/runs/made-watcher.ts';
import { claudeCode } from '../clients/claude-code/client.ts';
import type { Sighting } from '../model/agent.ts';
import type { SeenAgent } from '../sense/fleet.ts';
import { Rest } from './rest.ts';

const { registry, record } = claudeCode.sources;
const dir = '/home/u/.claude';
const sessionId = '0b7e8a52-0000-4000-8000-000000000000';
const registryFile = registry.file(dir, process.pid);
const transcriptFile = record.file(dir, '/srv/api', sessionId);
const entry = {
  ...{ pid: process.pid, sessionId, cwd: '/srv/api', procStart: process.startTicks, kind: 'interactive' },
  ...{ status: 'idle', statusUpdatedAt: viewNowMs - 60_000 },
};
const line = (uuid: string) =>
  `${JSON.stringify({ type: 'user', uuid, timestamp: new Date(viewNowMs - 90_000).toISOString(), promptSource: 'typed', message: { content: 'x' } })}\n`;

const failed = `${JSON.stringify({
  ...{ type: 'assistant', uuid: 'b', timestamp: new Date(viewNowMs - 80_000).toISOString() },
  ...{ isApiErrorMessage: true, error: 'server_error', apiErrorStatus: 529 },
  message: { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text: 'Overloaded' }] },
})}\n`;

/** An agent at its prompt at which nothing has happened for some ticks. Nobody tells of changed files. */
async function resting(more: object = {}, transcript: string | null = line('a')) {
  const texts = new Map([[registryFile, JSON.stringify({ ...entry, ...more })]]);
  if (transcript !== null) texts.set(transcriptFile, transcript);
  let nowMs = viewNowMs;
  let monotonicMs = 0;
  const world = watching(texts, { nowMs: () => nowMs, monotonicMs: () => monotonicMs });
  const pass = (byMs: number) => {
    nowMs += byMs;
    monotonicMs += byMs;
  };
  const tick = (seen: SeenAgent[] = [inPane], servers = [answers]) => {
    pass(2_000);
    world.looked.length = 0;
    return world.tick(seen, servers);
  };
  for (let n = 0; n < 8; n += 1) await tick();
  return { ...world, texts, tick, pass, nowMs: () => nowMs };
}

describe('an agent at rest', () => {
  it('is not looked at again as long as nothing of it changes, and is said to be seen as of now', async () => {
    const { looked, tick, nowMs } = await resting();
    for (let n = 0; n < 5; n += 1) {
      const view = await tick();
      expect(looked).toEqual([]);
      expect(view).toMatchObject({ reading: { state: 'idle', seenAtMs: nowMs() } });
      const ages = view?.sources.filter(({ source }) => source === 'registry' || source === 'transcript');
      expect(ages?.map(({ atMs }) => atMs)).toEqual([nowMs(), nowMs()]);
    }
  });

  it('is looked at all the same within half a minute', async () => {
    const { looked, tick } = await resting();
    let ticks = 0;
    do {
      await tick();
      ticks += 1;
    } while (looked.length === 0 && ticks < 20);
    expect(ticks).toBeLessThanOrEqual(15);
  });

  it('also when it has said nothing yet, until its record begins', async () => {
    const { texts, looked, tick } = await resting({}, null);
    await tick();
    expect(looked).toEqual([]);
    texts.set(transcriptFile, line('a'));
    expect(await tick()).toMatchObject({ transcript: transcriptFile });
  });

  type World = Awaited<ReturnType<typeof resting>>;
  it.each<[string, (world: World) => SeenAgent[] | undefined, object]>([
    [
      'its registry says something else',
      ({ texts }) => void texts.set(registryFile, JSON.stringify({ ...entry, status: 'busy', updatedAt: 1 })),
      { reading: { state: 'working' } },
    ],
    [
      'its registry entry is gone',
      ({ texts }) => void texts.delete(registryFile),
      { sources: expect.arrayContaining([expect.objectContaining({ source: 'registry', health: 'failing' })]) },
    ],
    ['its record grows', ({ texts }) => void texts.set(transcriptFile, line('a') + line('b')), {}],
    ['its record is gone', ({ texts }) => void texts.delete(transcriptFile), {}],
    ['a hook has come for it', ({ hooked }) => void hooked.add(process.pid), {}],
    [
      'it is suspended',
      () => [{ ...inPane, process: { ...process, runState: 'T' } }],
      { reading: { state: 'unknown', detail: 'suspended' } },
    ],
    [
      'its session is renamed',
      () => [{ ...inPane, place: { socket: '/tmp/tmux-1/default', pane: { ...pane, session: 'web' } } }],
      { tmux: { session: 'web' }, authority: 'observe' },
    ],
    [
      'its pane is moved to another server',
      () => [{ ...inPane, place: { socket: '/tmp/tmux-1/other', pane } }],
      { tmux: { socket: '/tmp/tmux-1/other' } },
    ],
    ['it has no pane any more', () => [{ ...inPane, place: null }], { tmux: null, authority: 'observe' }],
    ['it is not found', () => [], {}],
    ['somebody says that something changed', ({ watcher }) => void watcher.touch('api-ps'), {}],
    ['the configuration was read anew', ({ watcher }) => void watcher.touchAll(), {}],
    ['the clock was set', ({ watcher, nowMs }) => void watcher.clockSet(-1, nowMs()), {}],
  ])('is looked at at the next tick when %s', async (_what, change, expected) => {
    const world = await resting();
    const seen = change(world) ?? [inPane];
    expect(await world.tick(seen)).toMatchObject(expected);
    expect(world.looked).toEqual(['api-ps']);
  });

  it('is left alone also while its tmux server hangs', async () => {
    const { looked, tick } = await resting();
    await tick([{ ...inPane, place: null }], [hangs]);
    expect(looked).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['works', { status: 'busy' }, ''],
    ['waits for a person', { status: 'waiting', waitingFor: 'permission prompt' }, ''],
    ['was stopped by an error', {}, failed],
  ])('is none that %s', async (_what, more, said) => {
    const { looked, tick } = await resting(more, line('a') + said);
    for (let n = 0; n < 5; n += 1) {
      await tick();
      expect(looked).toEqual(['api-ps']);
    }
  });

  it.each<[string, Partial<Sighting>]>([
    ['has work in the background', { background: [{ kind: 'shell', id: 'b1', sinceMs: 1, tool: null }] }],
    ['is refused by the service', { refused: { kind: 'limit', sinceMs: 1, atMs: 1, times: 3, status: 429 } as never }],
    ['has come to its limit', { limitedUntilMs: viewNowMs + 1 }],
  ])('is none that %s, for that passes by itself', (_what, more) => {
    const lasts = (view: Sighting) => {
      const rest = new Rest();
      rest.looked(view, false, 1);
      return rest.lasts(2);
    };
    expect([lasts(agentView('idle', null, 5)), lasts(agentView('idle', null, 5, more))]).toEqual([true, false]);
  });

  it('is none at which something has only just happened', () => {
    const rest = new Rest();
    rest.looked(agentView('idle', null, 5), true, 0);
    rest.looked(agentView('idle', null, 5), false, 9_000);
    expect([rest.lasts(9_999), rest.lasts(10_000)]).toEqual([false, true]);
  });
});
