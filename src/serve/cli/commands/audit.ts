import type { Command } from 'commander';
import { showLedger } from '../ledger.ts';

export function addAudit(program: Command): void {
  program
    .command('audit')
    .summary('everything done and not done, with the reason')
    .description(
      'The ledger: every prompt, command and message that was to go out, who or which check wanted it, and what came of it.',
    )
    .argument('[agent]', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action((agent: string | undefined, options: { json?: boolean }) =>
      showLedger(
        { agent: agent ?? null, kind: null, limit: 1_000, json: options.json === true },
        'nothing was done yet',
      ),
    );
}
