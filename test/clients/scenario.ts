// One test's whole world; see src/run/conform/sandbox.ts.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startFakeModel } from '../../src/run/conform/fake-model.ts';
import { Sandbox } from '../../src/run/conform/sandbox.ts';
import { until } from '../../src/run/conform/until.ts';
import type { Agent } from './agent.ts';

export { watchkeeperProgram } from '../../src/run/conform/sandbox.ts';

export class Scenario extends Sandbox {
  readonly agents: Agent[] = [];
  readonly until = until;
}

/** For `test('…', scenario(async (s) => { … }))`. */
export function scenario(body: (s: Scenario) => Promise<void>): () => Promise<void> {
  return async () => {
    const s = new Scenario(mkdtempSync(path.join(tmpdir(), 'wk-scenario-')), await startFakeModel());
    const failures: Error[] = [];
    await body(s).catch(async (error: Error) => {
      error.message += `\n${await s.describe()}`;
      failures.push(error);
    });
    await s.end().catch((error: Error) => failures.push(error));
    if (failures.length > 1) throw new AggregateError(failures, failures.map((failure) => failure.message).join('\n'));
    if (failures[0] !== undefined) throw failures[0];
  };
}
