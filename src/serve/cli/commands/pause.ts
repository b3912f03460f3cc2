import type { Command } from 'commander';
import { ownCaller } from '../../../daemon/asker.ts';
import { askControl } from '../../../daemon/control.ts';
import { findHome, pause, runningDaemon, unpause } from '../../../home/home.ts';
import { leaveWord, newWord, wordCharsMax } from '../../../home/words.ts';
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
    .action(async (options: { reason?: string }) => {
      const home = findHome(process.env);
      const reason = (options.reason ?? '').slice(0, wordCharsMax);
      const word = newWord('pause', ownCaller(), { reason });
      const paused = pause(home, word.by, reason);
      if (!paused.ok) throw new CommandFailure(exit.usage, paused.message, paused.fix ?? null);
      const daemon = runningDaemon(home);
      const asked =
        daemon && (await askControl(daemon.sockets.control, { ask: 'pause', reason, id: word.id }, answerMs));
      if (asked?.ok !== true) leaveWord(home, word);
      say('paused: nothing is typed until `watchkeeper unpause`');
    });
  program
    .command('unpause')
    .summary('let Watchkeeper act again')
    .action(async () => {
      const home = findHome(process.env);
      const word = newWord('unpause', ownCaller());
      const daemon = runningDaemon(home);
      const asked = daemon && (await askControl(daemon.sockets.control, { ask: 'unpause', id: word.id }, answerMs));
      if (asked?.ok === false && asked.reason === 'not-allowed')
        throw new CommandFailure(exit.no, asked.message, asked.fix ?? null);
      // Also where no daemon answers: the file is the pause.
      unpause(home);
      if (asked?.ok !== true) leaveWord(home, word);
      say('acting again');
    });
}
