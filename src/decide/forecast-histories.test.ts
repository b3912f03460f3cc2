// How early and how late the forecast is, on 55 real sessions (their figures only) and on generated ones.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { generated, type History, realHistories, shapes, size } from '../../test/fixtures/context-histories.ts';
import { type ContextFigure, forecastContext } from './forecast.ts';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const edges = [30, 50, 70, 85];
const histories = 60;

interface Score {
  forecasts: number;
  inRange: number;
  beforeLow: number;
  afterHigh: number;
  /** Forecast steps over those it took. */
  ratios: number[];
}

/** Every forecast of every band that was really reached before the context fell again. */
function score(all: History[]): Score {
  const found: Score = { forecasts: 0, inRange: 0, beforeLow: 0, afterHigh: 0, ratios: [] };
  for (const history of all) {
    for (const [index, { atMs }] of history.entries()) {
      const said = forecastContext(history.slice(0, index + 1), edges, atMs);
      if (said === null || said.edge === null || said.next === null) continue;
      const reached = whenReached(history, index, (said.edge / 100) * size.window);
      if (reached === null) continue;
      found.forecasts += 1;
      found.ratios.push(said.next.steps / reached.steps);
      if (reached.atMs < said.next.lowMs) found.beforeLow += 1;
      else if (reached.atMs > said.next.highMs) found.afterHigh += 1;
      else found.inRange += 1;
    }
  }
  found.ratios.sort((a, b) => a - b);
  return found;
}

function whenReached(history: History, from: number, mark: number): { atMs: number; steps: number } | null {
  for (let index = from + 1; index < history.length; index += 1) {
    const { used, atMs, compacted } = history[index] as ContextFigure;
    if (compacted !== null || used < (history[index - 1]?.used ?? 0) * 0.8) return null;
    if (used >= mark) return { atMs, steps: index - from };
  }
  return null;
}

function row(name: string, { forecasts, inRange, beforeLow, afterHigh, ratios }: Score): string {
  const share = (count: number) => `${Math.round((count / forecasts) * 100)} %`;
  const at = (part: number) => (ratios[Math.floor(part * (ratios.length - 1))] ?? 0).toFixed(2);
  return `| ${[name, forecasts, share(inRange), share(beforeLow), share(afterHigh), at(0.1), at(0.5), at(0.9)].join(' | ')} |`;
}

describe('how early and how late the forecast is', () => {
  const rows: string[] = [];
  const judged = (name: string, all: History[]): Score => {
    const found = score(all);
    rows.push(row(name, found));
    return found;
  };

  it('on real sessions, five of six bands come within the range that was said', () => {
    const { inRange, forecasts, beforeLow, ratios } = judged('55 real sessions', realHistories());
    expect(forecasts).toBeGreaterThan(1_000);
    expect(inRange / forecasts).toBeGreaterThan(5 / 6);
    // Too late a word is what hurts.
    expect(beforeLow / forecasts).toBeLessThan(0.05);
    expect(ratios[Math.floor(ratios.length / 2)]).toBeGreaterThan(0.7);
    expect(ratios[Math.floor(ratios.length / 2)]).toBeLessThan(1.3);
  });

  it.each(Object.keys(shapes))('on generated ones: %s', (name) => {
    const shape = shapes[name];
    if (shape === undefined) return;
    const { inRange, forecasts, beforeLow } = judged(name, generated(shape, histories));
    expect(beforeLow / forecasts).toBeLessThan(0.1);
    expect(inRange / forecasts).toBeGreaterThan(0.7);
  });

  it('is on record', () => {
    const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
    mkdirSync(folder, { recursive: true });
    const text = [
      '# How early and how late the context forecast is',
      '',
      'Every forecast of the next band, made after every figure of every history, where the band was really reached before',
      "the context fell again. Time counts as work goes on: a pause counts for five minutes at most. A ratio is the model's",
      'steps that were forecast over those it took: below 1 the word was too early, above 1 too late.',
      '',
      '| histories | forecasts | in the range | before its earliest | after its latest | ratio 10 % | median | 90 % |',
      '|---|---|---|---|---|---|---|---|',
      ...rows,
      '',
    ];
    writeFileSync(path.join(folder, 'forecast.md'), text.join('\n'));
    expect(rows.length).toBe(1 + Object.keys(shapes).length);
  });
});
