import { describe, expect, it } from 'vitest';
import { viewNowMs } from '../../test/runs/agent-view.ts';
import { answers, hangs, inPane, pane, process, watching } from '../../test/runs/made-watcher.ts';
import { claudeCode } from '../clients/claude-code/client.ts';
import type { SeenAgent } from '../sense/fleet.ts';

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

  it.each<[string, object]>([
    ['works', { status: 'busy' }],
    ['waits for a person', { status: 'waiting', waitingFor: 'permission prompt' }],
  ])('is none that %s', async (_what, more) => {
    const { looked, tick } = await resting(more);
    for (let n = 0; n < 5; n += 1) {
      await tick();
      expect(looked).toEqual(['api-ps']);
    }
  });
});
