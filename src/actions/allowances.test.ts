import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findHome } from '../home/home.ts';
import { allow, keepAllowances, openAllowances } from './allowances.ts';

it('what an agent without an open handoff may write is withdrawn at the start', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-allowances-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = findHome({ WATCHKEEPER_HOME: dir });
  openAllowances(home, Date.now());
  const wish = { sessionId: 's', untilMs: Date.now() + 60_000 };
  for (const startTicks of ['1', '2']) {
    const given = allow(home, { ...wish, pid: 5, startTicks, file: path.join(dir, startTicks, 'handoff.md') });
    expect(given).toMatchObject({ ok: true });
  }
  keepAllowances(home, [{ pid: 5, startTicks: '2' }]);
  expect(readdirSync(home.allowancesDir).sort()).toEqual(['5-2', 'answer']);
});
