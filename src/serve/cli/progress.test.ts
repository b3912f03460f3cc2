import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Progress } from './progress.ts';

let seen: string[];
const before = { stdout: process.stdout.isTTY, stderr: process.stderr.isTTY };
const clear = '\r\u001b[K';

beforeEach(() => {
  seen = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => seen.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  terminals(before);
});

function terminals({ stdout, stderr }: { stdout: boolean; stderr: boolean }): void {
  process.stdout.isTTY = stdout;
  process.stderr.isTTY = stderr;
}

function read(): void {
  const progress = new Progress(200_000_000, '1 record');
  progress.add(100_000_000);
  progress.above(() => seen.push('a line'));
  progress.clear();
}

it('the bar makes way for a line on the same terminal and is there again', () => {
  terminals({ stdout: true, stderr: true });
  read();
  const bar = expect.stringContaining(' 50 %  1 record, 200 MB');
  expect(seen).toEqual([bar, clear, 'a line', bar, clear]);
});

it('lines that go elsewhere do not touch the bar', () => {
  terminals({ stdout: false, stderr: true });
  read();
  expect(seen).toEqual([expect.stringContaining(' 50 %'), 'a line', clear]);
});

it('without a terminal there is none', () => {
  terminals({ stdout: false, stderr: false });
  read();
  expect(seen).toEqual(['a line']);
});
