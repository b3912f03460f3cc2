import { afterEach, expect, it, vi } from 'vitest';
import { sinceOf } from './since.ts';

const now = Date.parse('2026-03-08T12:00:00Z');

it.each([
  ['7d', '2026-03-01T12:00:00Z'],
  ['1.5h', '2026-03-08T10:30:00Z'],
  ['30m', '2026-03-08T11:30:00Z'],
  ['2026-03-02T10:00:00+02:00', '2026-03-02T08:00:00Z'],
])('%s is %s', (text, time) => {
  expect(sinceOf(text, now)).toBe(Date.parse(time));
});

it.each(['', 'yesterday', '7', 'd', '-1d', '2026', '2026-99-99'])('"%s" is no time', (text) => {
  expect(sinceOf(text, now)).toBeNaN();
});

afterEach(() => vi.unstubAllEnvs());

it("a date begins on the reader's clock, as every time is printed", () => {
  vi.stubEnv('TZ', 'Asia/Kathmandu');
  expect(sinceOf('2026-03-02', now)).toBe(Date.parse('2026-03-01T18:15:00Z'));
  expect(sinceOf('2026-03-02T10:00:00Z', now)).toBe(Date.parse('2026-03-02T10:00:00Z'));
});
