import type { Command } from 'commander';
import { uninstallAll, uninstallFrom } from '../../../setup/uninstall.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson } from '../output.ts';
import { printFiles, setupFailure, surroundings, type TargetOptions, targetOf } from '../setup.ts';

interface UninstallOptions extends TargetOptions {
  all?: boolean;
  json?: boolean;
}

export function addUninstall(program: Command): void {
  program
    .command('uninstall')
    .summary('take out what `init` put in')
    .description(
      'Takes hooks, status line and the block for agents out again. A file that nobody changed since becomes what it was, ' +
        'to the byte; from one that was changed only our parts are taken. What else Watchkeeper stores is not touched.',
    )
    .argument('[dir]', 'the directory given to `init`; default: this one')
    .option('--user', 'your own settings')
    .option('--config-dir <path>', 'the settings of another config directory')
    .option('--all', 'everywhere `init` has been, with this WATCHKEEPER_HOME')
    .option('--json', 'one JSON document')
    .action((dir: string | undefined, options: UninstallOptions) => {
      const target = targetOf(dir, options);
      if (options.all && (target.dir !== null || target.user || target.configDir !== null))
        throw new CommandFailure(exit.usage, '--all is everywhere', 'give it alone');
      const undone = options.all
        ? { ok: true as const, value: uninstallAll(surroundings()) }
        : uninstallFrom(target, surroundings());
      if (!undone.ok) throw setupFailure(undone);
      const items = undone.value.flatMap((one) => (one.ok ? [one.value] : []));
      const failures = undone.value.filter((one) => !one.ok);
      if (options.json && failures.length === 0) printJson({ v: 1, items });
      else if (!options.json) {
        printFiles(items, false);
        if (undone.value.length === 0) print('nothing is installed');
      }
      for (const failed of failures.slice(0, -1))
        process.stderr.write(`watchkeeper: ${setupFailure(failed).message}\n`);
      const last = failures.at(-1);
      if (last !== undefined) throw setupFailure(last);
    });
}
