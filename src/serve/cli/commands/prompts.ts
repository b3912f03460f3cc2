import type { Command } from 'commander';
import { showLedger } from '../ledger.ts';

export function addPrompts(program: Command): void {
  program
    .command('prompts')
    .summary('what was said to agents, and what came of it')
    .argument('[agent]', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action((agent: string | undefined, options: { json?: boolean }) =>
      showLedger(
        { agent: agent ?? null, kind: 'prompt', limit: 100, json: options.json === true },
        'nothing was said yet',
      ),
    );
}
