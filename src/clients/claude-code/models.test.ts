import { describe, expect, it } from 'vitest';
import { compactionPoint, contextWindow } from './models.ts';

describe("the window is the status line's of the shipped client", () => {
  const cases: [string, number][] = [
    ['claude-opus-5-5', 1_000_000],
    ['claude-sonnet-5', 1_000_000],
    ['claude-haiku-5-5', 1_000_000],
    ['claude-fable-5-2', 1_000_000],
    ['claude-opus-4-8', 1_000_000],
    ['claude-opus-4-7', 1_000_000],
    ['claude-opus-4-6', 200_000],
    ['claude-opus-4-5', 200_000],
    ['claude-sonnet-4-6', 200_000],
    ['claude-sonnet-4-5-20250929', 200_000],
    ['claude-sonnet-4', 200_000],
    ['claude-haiku-4-5', 200_000],
    ['claude-3-7-sonnet-latest', 200_000],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['my-gateway/claude-sonnet-4-5', 200_000],
    ['claude-sonnet-4-5[1m]', 1_000_000],
    ['claude-opus-4-6[1m]', 1_000_000],
    ['gpt-x-unknown', 1_000_000],
  ];
  it.each(cases)('%s', (model, window) => expect(contextWindow(model, 1).window).toBe(window));

  it('a figure beyond the smaller window proves the larger one', () =>
    expect(contextWindow('claude-sonnet-4-5', 250_000).window).toBe(1_000_000));
});

describe('where the client compacts by itself', () => {
  it.each<[string, number, number | null]>([
    ['claude-opus-4-6', 200_000, 167_000],
    ['claude-sonnet-4-6', 200_000, 167_000],
    ['claude-opus-4-8', 1_000_000, 967_000],
    ['claude-opus-4-5', 200_000, null],
    ['claude-sonnet-4-5-20250929', 200_000, null],
    ['claude-haiku-4-5', 200_000, null],
    ['gpt-x-unknown', 1_000_000, 967_000],
  ])('%s with %s: %s', (model, window, point) => expect(compactionPoint(model, window)).toBe(point));
});
