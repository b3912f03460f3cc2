// One test's whole world; see src/conform/sandbox.ts.
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject, type TestContext } from 'vitest';
import type { ClientAgent } from '../../src/clients/claude-code/conform/agent.ts';
import { type FakeModel, startFakeModel } from '../../src/clients/claude-code/conform/fake-model.ts';
import { Sandbox } from '../../src/conform/sandbox.ts';
import { DeadlineMissed, until } from '../../src/conform/until.ts';
import { actAtOnce } from '../runs/acting-at-once.ts';
import { giveDatabase } from '../system/made-database.ts';
import type { Agent } from './agent.ts';
import { forbidden } from './forbidden.ts';

export { watchkeeperProgram } from '../../src/conform/sandbox.ts';

export class Scenario extends Sandbox<FakeModel> {
  declare readonly clients: ClientAgent[];
  readonly agents: Agent[] = [];
  readonly until = until;

  override async watchkeeper(
    ...[args, options = {}]: Parameters<Sandbox['watchkeeper']>
  ): ReturnType<Sandbox['watchkeeper']> {
    const { DATABASE_URL: url, WATCHKEEPER_HOME: home, WATCHKEEPER_CONFIG: config } = options.env ?? {};
    if (args[0] === 'up' || args[0] === 'check')
      actAtOnce(this.home, config, !existsSync(path.join(this.watchkeeperHome, 'daemon.log')));
    const isOwn = url === undefined && home === undefined && !existsSync(this.watchkeeperHome);
    const made = isOwn && args[0] === 'up' ? inject('madeDatabase') : undefined;
    if (made !== undefined) giveDatabase(this.watchkeeperHome, made);
    return super.watchkeeper(args, options);
  }
}

/** For `test('…', scenario(async (s) => { … }))`. */
export function scenario(
  body: (s: Scenario) => Promise<void>,
): (context?: Pick<TestContext, 'onTestFinished'>) => Promise<void> {
  return async (context) => {
    const s = new Scenario(mkdtempSync(path.join(tmpdir(), 'wk-scenario-')), await startFakeModel());
    let ending: Promise<void> | null = null;
    const end = (failure: Error | null) => {
      ending ??= endOf(s, failure);
      return ending;
    };
    // Past the test's time nobody hears its body any more: the world is looked at and ended all the same.
    context?.onTestFinished?.(() =>
      ending === null ? end(new DeadlineMissed('the time of the test was up')) : undefined,
    );
    await body(s).then(() => end(null), end);
  };
}

async function endOf(s: Scenario, failure: Error | null): Promise<void> {
  const failures: Error[] = [];
  if (failure !== null) {
    failure.message += `\n${await s.describe()}`;
    failures.push(failure, ...(await forbidden(s)));
  }
  await s.end().catch((error: Error) => failures.push(error));
  if (failures.length > 1) throw new AggregateError(failures, failures.map((each) => each.message).join('\n'));
  if (failures[0] !== undefined) throw failures[0];
}
