import { describe, expect, it } from 'vitest';
import { judgeSpawn, type SpawnFacts } from './spawns.ts';

const minute = 60_000;
const limits = { stallMs: 15 * minute, abandonMs: 30 * minute };
const healthy: SpawnFacts = {
  end: null,
  visible: true,
  problem: null,
  quietMs: 0,
  failureLine: null,
  waiting: false,
  lost: false,
  sharedWith: [],
};
const status = (given: Partial<SpawnFacts>) => judgeSpawn({ ...healthy, ...given }, limits).status;
const reason = (given: Partial<SpawnFacts>) => judgeSpawn({ ...healthy, ...given }, limits).reason;

describe('how background work is doing', () => {
  it.each<[string, Partial<SpawnFacts>, string]>([
    ['it has just written', {}, 'running'],
    ['a moment before the threshold', { quietMs: 15 * minute - 1 }, 'running'],
    ['at the threshold', { quietMs: 15 * minute }, 'stalled'],
    ['a moment before it is given up', { quietMs: 30 * minute - 1 }, 'stalled'],
    ['when it is given up', { quietMs: 30 * minute }, 'abandoned'],
    ['one byte in 14 of 15 minutes', { quietMs: 14 * minute }, 'running'],
    ['silent, but it waits for a permission', { quietMs: 600 * minute, waiting: true }, 'running'],
    ['nothing to see, so silence says nothing', { visible: false, quietMs: 29 * minute }, 'running'],
    ['nothing to see, and the time is up', { visible: false, quietMs: 30 * minute }, 'abandoned'],
    ['an output that cannot be read', { problem: 'foreign', quietMs: minute }, 'running'],
    ['an output that cannot be read for too long', { problem: 'foreign', quietMs: 15 * minute }, 'stalled'],
    ['its last line reads like an error', { failureLine: 'Error: x', quietMs: 7 * minute }, 'running'],
    ['and nothing came after it for half the time', { failureLine: 'Error: x', quietMs: 7.5 * minute }, 'stalled'],
    [
      'it ended well, however silent it was',
      { end: { how: 'finished', atMs: 1, text: null }, quietMs: 99 * minute },
      'finished',
    ],
    ['it failed', { end: { how: 'failed', atMs: 1, text: 'exit code 3' } }, 'failed'],
    ['it was stopped', { end: { how: 'stopped', atMs: 1, text: null } }, 'failed'],
    ['its process is gone with its parent', { lost: true }, 'abandoned'],
  ])('%s', (_what, given, wanted) => expect(status(given)).toBe(wanted));

  it('the row says why', () => {
    expect(reason({})).toBeNull();
    expect(reason({ problem: 'its output file is not there' })).toBe('its output file is not there');
    expect(reason({ sharedWith: ['b', 'c'] })).toBe('shares its output file with b, c');
    expect(reason({ end: { how: 'failed', atMs: 1, text: 'exit code 3' } })).toBe('exit code 3');
    expect(reason({ waiting: true })).toBe('waits for a permission');
  });
});
