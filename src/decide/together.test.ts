import { describe, expect, it } from 'vitest';
import { checkNames } from '../detect/checks.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import { mostDone } from './policy.ts';
import { saidTogether, setsGoing, standsStill } from './together.ts';

type World = Pick<AgentView, 'stopped' | 'findings'>;
const fine: World = { stopped: null, findings: [] };
const stopped: World = { stopped: { sinceMs: 0, error: '529', errorKind: 'overloaded' }, findings: [] };
const stalled = (standing: Finding['standing']): World => ({
  stopped: null,
  findings: [{ check: 'stalled-turn', standing } as Finding],
});
const due = (check: CheckName, openedMs = 0) => ({ incident: { check, openedMs } as Incident });
const said = (checks: CheckName[], view: World) =>
  saidTogether(
    checks.map((check, at) => due(check, at)),
    view,
  ).map(({ incident }) => incident.check);

describe('what sets the work going again comes first, and what else is due is said with it', () => {
  it('an agent that stands still is told to go on, with the note in the same prompt', () =>
    expect(said(['context-high', 'silent-stop'], stopped)).toEqual(['silent-stop', 'context-high']));
  it('it is asked for nothing else as long as that is not due', () => {
    for (const check of ['context-high', 'spawn-stalled', 'spawn-failed', 'spawn-abandoned'] as const)
      expect(said([check], stopped), check).toEqual([]);
  });
  it('nor in a turn that does not move', () => {
    expect(said(['spawn-stalled'], stalled('seen'))).toEqual([]);
    expect(said(['spawn-stalled', 'stalled-turn'], stalled('seen'))).toEqual(['stalled-turn', 'spawn-stalled']);
    expect(said(['spawn-stalled'], stalled('kept'))).toEqual(['spawn-stalled']);
  });
  it('one that works or is done hears everything that is due, lost work before notes', () =>
    expect(said(['context-high', 'spawn-stalled', 'spawn-failed'], fine)).toEqual([
      'spawn-stalled',
      'spawn-failed',
      'context-high',
    ]));
  it('troubles of one kind in the order in which they came', () => {
    const two = [due('spawn-failed', 2), due('spawn-failed', 1)];
    expect(saidTogether(two, fine).map(({ incident }) => incident.openedMs)).toEqual([1, 2]);
  });
  it('not more than five at once', () =>
    expect(
      said(
        Array.from({ length: 20 }, () => 'spawn-stalled' as const),
        fine,
      ),
    ).toHaveLength(5));
  it('nothing when nothing is due', () => expect(said([], fine)).toEqual([]));
});

describe('every check that speaks to agents has its place', () => {
  const spoken = checkNames.filter((check) => mostDone(check) === 'prompts');
  it.each(spoken)('%s', (check) => {
    // Those without a place come last, behind the note.
    if (check !== 'context-high') expect(said(['context-high', check], fine)[0]).toBe(check);
    expect(setsGoing(check)).toBe(check === 'silent-stop' || check === 'stalled-turn');
  });
  it('a stopped agent stands still, and so does a stalled one', () => {
    expect([fine, stopped, stalled('seen'), stalled('kept')].map(standsStill)).toEqual([false, true, true, false]);
  });
});
