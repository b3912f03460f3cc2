import { describe, expect, it } from 'vitest';
import { holdBand } from '../decide/bands.ts';
import { checkNames } from '../detect/checks.ts';
import type { AgentView } from '../model/agent.ts';
import { HealthRows } from './health-rows.ts';

const intervals = { healthIntervalMinutes: 10, bands: [30, 50, 70, 85] };
const minuteMs = 60_000;

function view(percent: number | null, before: AgentView | null = null, nowMs = 0): AgentView {
  const context =
    percent === null
      ? null
      : { used: percent * 2_000, window: 200_000, usable: 180_000, percent, source: 'statusline', atMs: 0 };
  const reading = { state: 'idle', detail: null };
  const contexts = context === null ? [] : [{ source: 'statusline', percent, scale: 'window', used: 1, atMs: 0 }];
  const band = holdBand(percent, before?.band ?? null, intervals.bands, nowMs);
  return {
    agent: 'a',
    project: 'p',
    reading,
    context,
    contexts,
    band,
    model: 'm',
    findings: [],
  } as unknown as AgentView;
}

describe('the context row of each interval', () => {
  const cases: [number | null, string][] = [
    [0, 'ok'],
    [49.9, 'ok'],
    [69.9, 'ok'],
    [70, 'warning'],
    [85, 'warning'],
    [85.1, 'critical'],
    [100, 'critical'],
    [null, 'unknown'],
  ];
  it.each(cases)('%s percent: %s', (percent, status) => {
    const rows = new HealthRows(() => intervals).rows(null, view(percent), minuteMs);
    expect(rows.find(({ type }) => type === 'context')).toMatchObject({
      status,
      project: 'p',
      details: {
        context_usage: percent === null ? null : expect.closeTo(percent / 100),
        age_s: percent === null ? null : 60,
      },
    });
  });

  it('comes once in an interval', () => {
    const health = new HealthRows(() => intervals);
    const typesAt = (minutes: number) => health.rows(view(1), view(1), minutes * minuteMs).map(({ type }) => type);
    expect(typesAt(0)).toEqual(['summary', 'context']);
    expect(typesAt(9.9)).toEqual([]);
    expect(typesAt(10)).toEqual(['summary', 'context']);
  });
});

describe('the summary row', () => {
  const summaryOf = (given: object) => {
    const [summary] = new HealthRows(() => intervals).rows(null, { ...view(1), ...given } as AgentView, 0);
    return summary;
  };

  it('has every check of agents, each as it stands', () => {
    const found = (check: string, severity: string) => ({ id: '1', check, subject: null, severity });
    const findings = [found('silent-stop', 'critical'), found('spawn-stalled', 'warning')];
    const checks = summaryOf({ findings })?.details.checks as Record<string, string>;
    const ofHost = ['database-away', 'disk-full', 'mass-failure', 'tmux-away'];
    expect(Object.keys(checks)).toEqual(checkNames.filter((name) => !ofHost.includes(name)));
    expect(Object.entries(checks).filter(([, status]) => status !== 'ok')).toEqual([
      ['silent-stop', 'critical'],
      ['spawn-stalled', 'warning'],
    ]);
  });

  it('of an agent of which nothing is known says so of every check', () => {
    const checks = summaryOf({ reading: { state: 'unknown', detail: null } })?.details.checks;
    expect(new Set(Object.values(checks as Record<string, string>))).toEqual(new Set(['unknown']));
  });
});

describe('the context row of a change', () => {
  it('comes with each band, and a wobble around an edge is none', () => {
    const health = new HealthRows(() => intervals);
    let before: AgentView | null = null;
    const rows = [10, 40, 60, 71, 69, 71, 69.5, 86, 84, 20, null].flatMap((percent, index) => {
      const now = view(percent, before, index);
      const made = health.rows(before, now, index);
      before = now;
      return made
        .filter(({ type }) => type === 'context')
        .map(({ status, details }) => [status, details.band, details.from]);
    });
    expect(rows).toEqual([
      ['ok', '[0,30)', null],
      ['ok', '[30,50)', '[0,30)'],
      ['ok', '[50,70)', '[30,50)'],
      ['warning', '[70,85]', '[50,70)'],
      ['critical', '(85,100]', '[70,85]'],
      ['ok', '[0,30)', '(85,100]'],
      ['unknown', null, '[0,30)'],
    ]);
  });
});
