// Runs the state table in several setups at once, one daemon watching them all, and holds it to its promises.
import { expect } from 'vitest';
import { runStateTable } from '../../src/clients/claude-code/conform/state-table.ts';
import { describeSetup, type Setup } from '../../src/conform/setup.ts';
import { Sampler } from '../../src/conform/truth.ts';
import { DeadlineMissed } from '../../src/conform/until.ts';
import type { StatusDocument } from '../../src/daemon/status.ts';
import { claudeProgram } from './agent.ts';
import type { Scenario } from './scenario.ts';
import { rowOf, writeRow } from './source-report.ts';
import { expectInTime } from './state-report.ts';

export async function runSetups(s: Scenario, setups: Setup[]): Promise<void> {
  const sampler = new Sampler(s.watchkeeperHome);
  try {
    const each = setups.map((setup) => runStateTable({ world: s, sampler, program: claudeProgram() }, setup));
    const [missing] = (await Promise.all(each)).flat();
    if (missing !== undefined) throw new DeadlineMissed(`${missing.scenario}: ${missing.reason}`);
  } finally {
    sampler.stop();
  }
  await statusLinesTold(s, setups);
  const scores = sampler.scores();
  for (const setup of setups) {
    const own = scores.filter(({ agent }) => agent.startsWith(`${setup.name}-`)).map(({ score }) => score);
    const row = rowOf(setup, own);
    writeRow(setup, row);
    const what = describeSetup(setup);
    const wrong = [...new Set(own.flatMap((score) => score.wrong))].join('\n');
    console.log(`${what}: ${row.right} of ${row.samples} right, ${row.unknown} unknown, slowest ${row.slowestMs} ms`);
    expect(
      own.flatMap((score) => score.dangerous),
      what,
    ).toEqual([]);
    expect(
      own.flatMap((score) => score.missed),
      what,
    ).toEqual([]);
    expect(row.unknown / row.samples, `${what}: time spent unknown`).toBeLessThanOrEqual(0.02);
    expect(row.right / row.samples, `${what}: ${wrong}`).toBeGreaterThan(0.95);
    for (const { label, ms } of own.flatMap((score) => score.lags)) expectInTime(`${what}: ${label}\n${wrong}`, ms);
  }
}

/** Context, cost and limits by the status line, where there is one. */
async function statusLinesTold(s: Scenario, setups: Setup[]): Promise<void> {
  const { agents } = (await s.watchkeeper(['status', '--json'])).json<StatusDocument>();
  const find = (name: string) => agents.find(({ agent }) => agent === name);
  for (const { name } of setups.filter(({ statusLine }) => statusLine)) {
    const main = find(`${name}-main`);
    expect(main?.cost_usd, `${name}: cost`).toBeTypeOf('number');
    expect(main?.context_sources.map(({ source }) => source)).toContain('statusline');
    expect(find(`${name}-limit`)?.limits).toMatchObject([{ name: 'five_hour', percent: 100 }]);
  }
}
