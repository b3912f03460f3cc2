import type { Command } from 'commander';
import { askControl } from '../../../daemon/control.ts';
import { findHome, pause, runningDaemon, unpause } from '../../../home/home.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { say } from '../output.ts';

/** A daemon that is stopped or busy must not hold it up. */
const answerMs = 1_000;

export function addPause(program: Command): void {
  program
    .command('pause')
    .summary('stop all acting at once; watching goes on')
    .description('Nothing is typed, signalled or launched any more until `unpause`. Works with the daemon down, too.')
    .option('--reason <text>', 'for the record')
    .action((options: { reason?: string }) => {
      const paused = pause(findHome(process.env), options.reason ?? '');
      if (!paused.ok) throw new CommandFailure(exit.usage, paused.message, paused.fix ?? null);
      say('paused: nothing is typed until `watchkeeper unpause`');
    });
  program
    .command('unpause')
    .summary('let Watchkeeper act again')
    .action(async () => {
      const home = findHome(process.env);
      const daemon = runningDaemon(home);
      const asked = daemon === null ? null : await askControl(daemon.sockets.control, { ask: 'unpause' }, answerMs);
      if (asked?.ok === false && asked.reason === 'not-allowed')
        throw new CommandFailure(exit.no, asked.message, asked.fix ?? null);
      // Also where no daemon answers: the file is the pause.
      unpause(home);
      say('acting again');
    });
}
