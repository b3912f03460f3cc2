import type { Command } from 'commander';
import { runDoctor } from '../../../daemon/doctor.ts';
import { exit } from '../outcome.ts';
import { type Cell, hanging, print, printJson } from '../output.ts';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .summary('whether everything needed is here and works')
    .description(
      'Checks what Watchkeeper needs and whether it works, and says what helps where it does not. Exits 1 when something is wrong.',
    )
    .option('--json', 'one JSON document')
    .action(async (options: { json?: boolean }) => {
      const checks = await runDoctor(process.env);
      const good = checks.every((check) => check.ok);
      if (options.json) printJson({ v: 1, ok: good, checks });
      else {
        for (const check of checks) {
          const verdict: Cell = check.ok ? { text: 'ok   ', color: 'green' } : { text: 'WRONG', color: 'red' };
          const name = check.name.padEnd(11);
          print(hanging([verdict, { text: name }], check.detail));
          if (!check.ok && check.fix !== null)
            print(hanging([{ text: '     ' }, { text: ' '.repeat(11) }], `→ ${check.fix}`));
        }
      }
      if (!good) process.exitCode = exit.no;
    });
}
