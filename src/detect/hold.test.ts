import { describe, expect, it } from 'vitest';
import type { Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { Holding, type Persistence, provenPersistence, usualPersistence } from './hold.ts';

const loopHold: Persistence = { readings: 2, forMs: 2_000, keepMs: 10_000 };
const nightMs = 8 * 3_600_000;

function finding(check: CheckName, subject: string | null = null): Finding {
  return { check, subject, standing: 'seen', evidence: [{ text: 'so it is' }] } as unknown as Finding;
}

/** Looks at given seconds; `slept` is how much longer the wall clock has run. */
function watching(hold: Persistence, isOpen = false) {
  const holding = new Holding();
  return (atS: number, found: Finding[], coming: CheckName[] = [], sleptMs = 0): string[] => {
    const moment = { nowMs: atS * 1000 + sleptMs, monotonicMs: atS * 1000, gapMs: 10_000 };
    const { findings, pending } = holding.look(found, coming, moment, { of: () => hold, isOpen: () => isOpen });
    return [...findings.map(({ standing }) => standing), ...pending.map(() => 'pending')];
  };
}

const one = [finding('silent-stop')];

describe('a trouble is told once it holds', () => {
  it('not at the first look', () => expect(watching(usualPersistence)(0, one)).toEqual(['pending']));
  it('at the second', () => {
    const look = watching(usualPersistence);
    look(0, one);
    expect(look(0.5, one)).toEqual(['seen']);
  });
  it('two looks at the same moment are one reading', () => {
    const look = watching(usualPersistence);
    look(0, one);
    expect(look(0.1, one)).toEqual(['pending']);
    expect(look(0.3, one)).toEqual(['seen']);
  });
  it('at once where the record is the proof', () => expect(watching(provenPersistence)(0, one)).toEqual(['seen']));
  it('at once where it was told before the restart', () =>
    expect(watching(usualPersistence, true)(0, one)).toEqual(['seen']));
  it('not before its time, however often it is seen', () => {
    const look = watching(loopHold);
    for (const atS of [0, 0.5, 1, 1.5]) expect(look(atS, one)).toEqual(['pending']);
    expect(look(2, one)).toEqual(['seen']);
  });
  it('one reading that was not repeated is forgotten', () => {
    const look = watching(usualPersistence);
    look(0, one);
    expect(look(0.5, [])).toEqual([]);
    expect(look(1, one)).toEqual(['pending']);
  });
  it('at its threshold, not a look later, if what leads to it was seen all along', () => {
    const look = watching(usualPersistence);
    look(0, [], ['silent-stop']);
    expect(look(2, [], ['silent-stop'])).toEqual([]);
    expect(look(4, one)).toEqual(['seen']);
  });
  it('two subjects of one check are two troubles', () => {
    const look = watching(usualPersistence);
    look(0, [finding('spawn-stalled', 'a')]);
    expect(look(1, [finding('spawn-stalled', 'a'), finding('spawn-stalled', 'b')])).toEqual(['seen', 'pending']);
  });
});

describe('a trouble that is out of sight for a moment is the same', () => {
  it('stays, and says that it is not seen', () => {
    const look = watching(usualPersistence);
    look(0, one);
    look(1, one);
    expect(look(2, [])).toEqual(['kept']);
    expect(look(3, one)).toEqual(['seen']);
  });
  it('goes after its time', () => {
    const look = watching(usualPersistence);
    look(0, one);
    look(1, one);
    expect(look(5.9, [])).toEqual(['kept']);
    expect(look(6, [])).toEqual([]);
    expect(look(6.5, one)).toEqual(['pending']);
  });
  it('goes at once when its time begins anew: it moved', () => {
    const look = watching(usualPersistence);
    look(0, one);
    look(1, one);
    expect(look(2, [], ['silent-stop'])).toEqual([]);
  });
});

describe('time in which nobody looked counts for nothing', () => {
  it('two looks with a long gap between them do not make it hold', () => {
    const look = watching(usualPersistence);
    look(0, one);
    expect(look(20, one)).toEqual(['pending']);
    expect(look(20.5, one)).toEqual(['seen']);
  });
  it('nor with a night of sleep between them', () => {
    const look = watching(loopHold);
    look(0, one);
    look(1, one);
    expect(look(2, one, [], nightMs)).toEqual(['pending']);
    expect(look(3, one, [], nightMs)).toEqual(['pending']);
    expect(look(4, one, [], nightMs)).toEqual(['seen']);
  });
  it('what was told is not over because nobody looked', () => {
    const look = watching(usualPersistence);
    look(0, one);
    look(1, one);
    expect(look(60, [])).toEqual(['kept']);
    expect(look(61, one)).toEqual(['seen']);
  });
});
