import type { Command } from 'commander';
import type { CommandResult } from '../../../actions/actions.ts';
import { askDaemon } from '../daemon.ts';
import { exit } from '../outcome.ts';
import { print, printJson, wrapped } from '../output.ts';
import { refusalText } from '../refusal.ts';

const exitCodes: Record<CommandResult['outcome'], number> = {
  confirmed: exit.ok,
  refused: exit.no,
  uncertain: exit.uncertain,
};

export function addCompact(program: Command): void {
  program
    .command('compact')
    .summary("have an agent compact its context, by the client's own command")
    .description(
      "Types its client's command for that into an agent at its prompt that may be managed, with proof. Refused while it works or waits.",
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action(async (agent: string, options: { json?: boolean }) => {
      const result = await askDaemon('compact', { agent }, 30_000);
      if (options.json) printJson(result);
      else
        print(
          wrapped(
            result.reason === null
              ? result.outcome
              : `${result.outcome}: ${await refusalText(result.reason, result.agent, 'manage')}`,
          ),
        );
      process.exitCode = exitCodes[result.outcome];
    });
}
