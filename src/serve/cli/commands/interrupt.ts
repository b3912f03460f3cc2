import type { Command } from 'commander';
import type { CommandResult } from '../../../actions/actions.ts';
import type { RequestDocument } from '../../../daemon/requests/table.ts';
import { askDaemon } from '../daemon.ts';
import { seconds } from '../options.ts';
import { exit } from '../outcome.ts';
import { print, printJson, wrapped } from '../output.ts';
import { refusalText } from '../refusal.ts';

interface InterruptOptions {
  dryRun?: boolean;
  wait: number;
  json?: boolean;
}

type Interrupted = RequestDocument<'interrupt'>;

/** The key and the client's record of what it did. */
const deedMs = 20_000;

const exitCodes: Record<CommandResult['outcome'], number> = {
  confirmed: exit.ok,
  refused: exit.no,
  uncertain: exit.uncertain,
};

export function addInterrupt(program: Command): void {
  program
    .command('interrupt')
    .summary('end the turn of an agent at work, with proof')
    .description(
      "Presses the client's key for it once and waits for the client's own record of the interruption. Refused where no turn runs, in a " +
        'dialog, and while somebody types. The agent then begins what was queued for it. Needs the authority `manage`.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .option('--dry-run', 'say what would be done, and every reason against it')
    .option('--wait <seconds>', 'wait for a moment that fits', seconds, 0)
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExit codes: 0 confirmed (--dry-run: nothing against it), 1 refused, 7 uncertain.')
    .action(async (agent: string, options: InterruptOptions) => {
      const waitMs = options.wait * 1000;
      const dryRun = options.dryRun === true;
      const result = await askDaemon('interrupt', { agent, waitMs, dryRun }, waitMs + deedMs);
      if (options.json) printJson(result);
      else print(await (result.would === undefined ? interruptText(result) : wouldText(result)));
      process.exitCode = result.outcome === null ? exit.ok : exitCodes[result.outcome];
    });
}

async function wouldText({ agent, would = '', against = [] }: Interrupted): Promise<string> {
  const reasons = await Promise.all(
    against.map(async (reason) => `against it: ${await refusalText(reason, agent, 'manage')}`),
  );
  return [would, ...reasons].map((line) => wrapped(line)).join('\n');
}

async function interruptText({ outcome, reason, proof, proof_ms: proofMs, agent }: Interrupted): Promise<string> {
  const by = proof === null ? '' : ` after ${proofMs} ms, by the client's ${proof}`;
  return wrapped(`${outcome}${by}${reason === null ? '' : `: ${await refusalText(reason, agent, 'manage')}`}`);
}
