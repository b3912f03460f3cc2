import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ownCaller } from '../../../daemon/asker.ts';
import { askControl } from '../../../daemon/control.ts';
import { findHome, isRunning, isStopped, removeDaemonRecord, runningDaemon } from '../../../home/home.ts';
import { leaveWord, newWord } from '../../../home/words.ts';
import { stopDatabase } from '../../../rows/database.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { say } from '../output.ts';

const stopMs = 40_000;

export function addDown(program: Command): void {
  program
    .command('down')
    .summary('stop the daemon and the embedded database')
    .description('Stops the daemon and the embedded database. With nothing running it does nothing.')
    .option('--keep-db', 'leave the embedded database running')
    .action(async (options: { keepDb?: boolean }) => {
      const home = findHome(process.env);
      const daemon = runningDaemon(home);
      const keepDb = options.keepDb === true;
      const word = newWord('stop', ownCaller(), { keep_db: keepDb });
      let isHeard = false;
      if (daemon !== null) {
        if (isStopped(daemon)) process.kill(daemon.pid, 'SIGCONT');
        const asked = await askControl(daemon.sockets.control, { ask: 'stop', keepDb, id: word.id }, 5_000);
        isHeard = asked.ok;
        // One of another version has other words; its signal is the same.
        if (!asked.ok && asked.reason === 'bad-request') process.kill(daemon.pid, 'SIGTERM');
        const endMs = performance.now() + stopMs;
        while (isRunning(daemon)) {
          if (performance.now() > endMs) {
            throw new CommandFailure(
              exit.timeout,
              `the daemon (pid ${daemon.pid}) does not stop`,
              `see ${home.logFile}`,
            );
          }
          await sleep(25);
        }
      } else {
        removeDaemonRecord(home);
      }
      const stopped = keepDb ? null : await stopDatabase(home);
      if (stopped !== null && !stopped.ok) throw new CommandFailure(exit.no, stopped.message, stopped.fix ?? null);
      const nothing = daemon === null && (stopped === null || stopped.value === 'not-running');
      if (!nothing && !isHeard) leaveWord(home, word);
      say(nothing ? 'nothing was running' : 'stopped');
    });
}
