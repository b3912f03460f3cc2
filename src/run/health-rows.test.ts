import { describe, expect, it } from 'vitest';
import type { AgentView } from '../model/agent.ts';
import { HealthRows } from './health-rows.ts';

const intervals = { healthIntervalMinutes: 10, bands: [30, 50, 70, 85] };
const minuteMs = 60_000;

function view(percent: number | null): AgentView {
  const context =
    percent === null
      ? null
      : { used: percent * 2_000, window: 200_000, usable: 180_000, percent, source: 'statusline', atMs: 0 };
  const reading = { state: 'idle', detail: null };
  const contexts = context === null ? [] : [{ source: 'statusline', percent, scale: 'window', used: 1, atMs: 0 }];
  return { agent: 'a', project: 'p', reading, context, contexts, model: 'm', findings: [] } as unknown as AgentView;
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
