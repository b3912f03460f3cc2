import { describe, expect, it } from 'vitest';
import { flapLimits } from '../detect/flapping.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import type { Ending } from '../model/score.ts';
import type { RecentScore } from '../model/store.ts';
import { key } from './open-incident.ts';
import { Quarantine } from './quarantine.ts';

const minute = 60_000;
const nowMs = 1_000 * minute;

function afterEndings(check: CheckName, ending: Ending, times: number): Quarantine {
  const quarantine = new Quarantine();
  const trouble = { host: 'h', agent: 'a', project: 'p', check, subject: null };
  for (let time = 0; time < times; time += 1) quarantine.ended(trouble, { check, ending }, nowMs + time * minute);
  return quarantine;
}

const of = (check: CheckName) => ({ agent: 'a', check, subject: null });
const keys = (...checks: CheckName[]) => new Set(checks.map((check) => key(of(check))));

function shown(quarantine: Quarantine, ...checks: CheckName[]): string[] {
  const standing = (check: CheckName) => (quarantine.isApart(of(check)) ? 'quarantined' : 'seen');
  const apart = quarantine.found().map(({ finding }) => `${finding.check} ${finding.subject} seen`);
  return [...checks.map((check) => `${check} - ${standing(check)}`), ...apart];
}

describe('what is set apart', () => {
  it('a trouble that ended by itself four times: shown as that, and named', () =>
    expect(shown(afterEndings('stalled-turn', 'by-itself', 4), 'stalled-turn', 'silent-stop')).toEqual([
      'stalled-turn - quarantined',
      'silent-stop - seen',
      'flapping stalled-turn seen',
    ]));
  it('not after three times', () =>
    expect(shown(afterEndings('stalled-turn', 'by-itself', 3), 'stalled-turn')).toEqual(['stalled-turn - seen']));
  it('not dialogs that were answered, however many', () =>
    expect(shown(afterEndings('waiting-human', 'human-answered', 9), 'waiting-human')).toEqual([
      'waiting-human - seen',
    ]));
  it('not a context that was compacted again and again: each stay was true', () =>
    expect(shown(afterEndings('context-high', 'by-itself', 9), 'context-high')).toEqual(['context-high - seen']));
  it('until it has been still for long enough', () => {
    const quarantine = afterEndings('stalled-turn', 'by-itself', 4);
    const lastMs = nowMs + 3 * minute;
    quarantine.look(keys('stalled-turn'), lastMs + 20 * minute);
    quarantine.look(keys(), lastMs + 25 * minute);
    quarantine.look(keys(), lastMs + 40 * minute);
    expect(shown(quarantine)).toEqual(['flapping stalled-turn seen']);
    quarantine.look(keys(), lastMs + 25 * minute + flapLimits.quietMs);
    expect(shown(quarantine, 'stalled-turn')).toEqual(['stalled-turn - seen']);
  });
});

describe('after a restart', () => {
  const score = (agoMinutes: number): RecentScore => {
    const endedMs = nowMs - agoMinutes * minute;
    const about = { incident: 'i', host: 'h', agent: 'a', check: 'stalled-turn' as const, subject: null };
    return { ...about, openedMs: endedMs, endedMs, ending: 'by-itself' };
  };
  it('what ended before counts on', () => {
    const quarantine = new Quarantine();
    quarantine.restore([score(40), score(30), score(20)], [], nowMs);
    expect(shown(quarantine)).toEqual([]);
    quarantine.ended({ host: 'h', agent: 'a', project: 'p', check: 'stalled-turn', subject: null }, score(0), nowMs);
    expect(shown(quarantine)).toEqual(['flapping stalled-turn seen']);
  });
  it('what had been still for long enough is not set apart again', () => {
    const quarantine = new Quarantine();
    quarantine.restore([score(40), score(39), score(38), score(37)], [], nowMs);
    expect(shown(quarantine, 'stalled-turn')).toEqual(['stalled-turn - seen']);
    quarantine.ended({ host: 'h', agent: 'a', project: 'p', check: 'stalled-turn', subject: null }, score(0), nowMs);
    expect(shown(quarantine, 'stalled-turn')).toEqual(['stalled-turn - seen']);
  });
  it('nor because it came once more since', () => {
    const quarantine = new Quarantine();
    quarantine.restore([score(50), score(49), score(48), score(47), score(10)], [], nowMs);
    expect(shown(quarantine, 'stalled-turn')).toEqual(['stalled-turn - seen']);
  });
  it('what came and went up to the end is set apart', () => {
    const quarantine = new Quarantine();
    quarantine.restore([score(40), score(30), score(20), score(10)], [], nowMs);
    expect(shown(quarantine, 'stalled-turn')).toEqual(['stalled-turn - quarantined', 'flapping stalled-turn seen']);
  });
  it('what was set apart still is', () => {
    const quarantine = new Quarantine();
    const open = { agent: 'a', project: 'p', check: 'flapping', subject: 'spawn-stalled:t:1', openedMs: nowMs };
    quarantine.restore([], [open as Incident], nowMs);
    expect(shown(quarantine)).toEqual(['flapping spawn-stalled:t:1 seen']);
  });
});
