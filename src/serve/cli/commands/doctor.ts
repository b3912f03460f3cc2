import type { Command } from 'commander';
import { runDoctor } from '../../../run/doctor.ts';
import { exit } from '../outcome.ts';
import { print, printJson } from '../output.ts';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .summary('is everything here that is needed, and does it work')
    .description(
      'Checks what Watchkeeper needs and how it does, each with the way out. Exits 1 when something is wrong.',
    )
    .option('--json', 'one JSON document')
    .action(async (options: { json?: boolean }) => {
      const checks = await runDoctor(process.env);
      const good = checks.every((check) => check.ok);
      if (options.json) printJson({ v: 1, ok: good, checks });
      else {
        for (const check of checks) {
          print(`${check.ok ? 'ok   ' : 'WRONG'}  ${check.name.padEnd(11)}  ${check.detail}`);
          if (!check.ok && check.fix !== null) print(`       ${' '.repeat(11)}  → ${check.fix}`);
        }
      }
      if (!good) process.exitCode = exit.no;
    });
}
