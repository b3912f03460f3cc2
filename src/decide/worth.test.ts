import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkNames } from '../detect/checks.ts';
import { mostDone } from './policy.ts';
import { groundOf, mayBeActedOn, precisionMin } from './worth.ts';

const report = readFileSync(new URL('../../docs/reports/eval-thresholds.md', import.meta.url), 'utf8');

describe('no check is acted on before it is known to be right', () => {
  it.each(checkNames)('%s', (check) => {
    if (groundOf(check).by === 'none') expect(mayBeActedOn(check)).toBe(false);
    if (!mayBeActedOn(check)) expect(mostDone(check)).toBe('shows');
  });

  const measured = checkNames.flatMap((check) => {
    const ground = groundOf(check);
    return ground.by === 'record' || ground.measured === null ? [] : [{ check, ground: ground.measured }];
  });

  it.each(measured)('the figures of $check are those of the report', ({ ground }) => {
    const line = report.split('\n').find((text) => text.startsWith(`| ${ground.line} |`)) ?? '';
    const [, , , found, wrong, , precision] = line.split('|').map((cell) => cell.trim());
    const [low, high] = ground.interval.map((bound) => bound.toFixed(2));
    expect({ right: Number(found), alarms: Number(found) + Number(wrong), precision }).toEqual({
      right: ground.right,
      alarms: ground.alarms,
      precision: `${ground.precision.toFixed(2)} (${low}–${high})`,
    });
  });

  it('what is acted on by measurement is precise enough on runs it was not made with', () => {
    for (const check of checkNames) {
      const ground = groundOf(check);
      if (ground.by !== 'measured') continue;
      expect(ground.measured.untouched).toBe(true);
      expect(ground.measured.precision).toBeGreaterThanOrEqual(precisionMin);
    }
  });
});
