import type { Command } from 'commander';
import { removeData } from '../../../daemon/remove-data.ts';
import { findHome, runningDaemon } from '../../../home/home.ts';
import { uninstallAll, uninstallFrom } from '../../../setup/uninstall.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say } from '../output.ts';
import { printFiles, setupFailure, surroundings, type TargetOptions, targetOf } from '../setup.ts';

interface UninstallOptions extends TargetOptions {
  all?: boolean;
  data?: boolean;
  json?: boolean;
}

export function addUninstall(program: Command): void {
  program
    .command('uninstall')
    .summary('take out what `init` put in')
    .description(
      'Takes hooks, status line and the block for agents out again. A file that nobody changed since becomes what it was, ' +
        'to the byte; from one that was changed only our parts are taken. What else Watchkeeper stores is only touched with --data.',
    )
    .argument('[dir]', 'the directory given to `init`; default: this one')
    .option('--user', 'your own settings')
    .option('--config-dir <path>', 'the settings of another config directory')
    .option('--all', 'everywhere `init` has been, with this WATCHKEEPER_HOME')
    .option('--data', 'with --all: also the data directory and its database: everything on record is lost')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nEverything:\n  watchkeeper down && watchkeeper uninstall --all --data\n' +
        'The system user `watchkeeper` that `up` made as root stays: userdel watchkeeper',
    )
    .action(async (dir: string | undefined, options: UninstallOptions) => {
      const target = targetOf(dir, options);
      if (options.all && (target.dir !== null || target.user || target.configDir !== null))
        throw new CommandFailure(exit.usage, '--all is everywhere', 'give it alone');
      if (options.data && !options.all)
        throw new CommandFailure(exit.usage, '--data takes everything away', 'add --all');
      const home = findHome(process.env);
      if (options.data && runningDaemon(home) !== null)
        throw new CommandFailure(exit.no, 'a daemon runs', 'stop it with `watchkeeper down`');
      const undone = options.all
        ? { ok: true as const, value: uninstallAll(surroundings()) }
        : uninstallFrom(target, surroundings());
      if (!undone.ok) throw setupFailure(undone);
      const items = undone.value.flatMap((one) => (one.ok ? [one.value] : []));
      const failures = undone.value.filter((one) => !one.ok);
      // What a settings file still points at has to stay.
      const data = options.data && failures.length === 0 ? await removeData(home) : null;
      if (data?.ok === false) throw new CommandFailure(exit.no, data.message, data.fix ?? null);
      if (options.json && failures.length === 0) printJson({ v: 1, items, ...data?.value });
      else if (!options.json) {
        printFiles(items, false);
        if (undone.value.length === 0 && data === null) print('nothing is installed');
        for (const folder of data?.value.removed ?? []) print(`removed: ${folder}`);
        for (const folder of data?.value.left ?? []) say(`${folder} stays: there is something in it that is not ours`);
      }
      for (const failed of failures.slice(0, -1)) say(setupFailure(failed).message);
      const last = failures.at(-1);
      if (last !== undefined) throw setupFailure(last);
    });
}
