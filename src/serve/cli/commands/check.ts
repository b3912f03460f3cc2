import os from 'node:os';
import type { Command } from 'commander';
import { healthReport, type StatusDocument } from '../../../daemon/status.ts';
import { findHome, runningDaemon } from '../../../home/home.ts';
import { askDaemon } from '../daemon.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say, withOwnTimes } from '../output.ts';
import { healthText, hostText } from './health.ts';
import { exitCodes, noCreateUser } from './up.ts';

export function addCheck(program: Command): void {
  program
    .command('check')
    .summary('one full round without a daemon, for a timer or cron')
    .description(
      'Looks at every agent once, records it, does what the rules say, and stops again. Exits 1 if anything is unhealthy. ' +
        'With a daemon running it only asks that one.',
    )
    .option('--json', 'one JSON document')
    .option('--no-create-user', noCreateUser)
    .addHelpText('after', '\nFor a crontab:\n  */10 * * * * watchkeeper check')
    .action(async (options: { json?: boolean; createUser: boolean }) => {
      const status = await oneRound(options.createUser);
      const { items, unhealthy, findings } = healthReport(status);
      if (options.json) printJson({ v: 1, items, findings });
      else {
        print(items.length === 0 ? 'no agent was found' : healthText(items));
        for (const finding of findings) print(hostText(finding));
      }
      if (unhealthy.length + findings.length > 0) process.exitCode = exit.no;
    });
}

async function oneRound(createUser: boolean): Promise<StatusDocument> {
  const home = findHome(process.env);
  if (runningDaemon(home) !== null) return askDaemon('status', {});
  const { runOnce } = await import('../../../daemon/start.ts');
  const done = await runOnce({
    home,
    places: { file: process.env.WATCHKEEPER_CONFIG ?? null, home: os.homedir(), projectDir: process.cwd() },
    environment: process.env,
    tmuxSockets: [],
    createUser,
    // The first time a database is made, and somebody may be waiting; a timer is told nothing.
    progress: (text) => void (process.stderr.isTTY && say(text)),
    event: () => {},
    notice: (text) => say(withOwnTimes(text)),
    news: () => {},
  });
  if (!done.ok) throw new CommandFailure(exitCodes[done.reason], done.message, done.fix ?? null);
  if (done.value.daemon.quiet_until !== null)
    say('this is the first round: it only looks, and nothing was done; the next one acts (`watchkeeper help start`)');
  return done.value;
}
