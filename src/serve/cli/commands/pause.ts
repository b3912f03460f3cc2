import type { Command } from 'commander';
import { findHome, pause, unpause } from '../../../home/home.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { say } from '../output.ts';

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
    .action(() => {
      unpause(findHome(process.env));
      say('acting again');
    });
}
