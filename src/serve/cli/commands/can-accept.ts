import { type Command, Option } from 'commander';
import type { AdmissionDocument, TaskSize } from '../../../daemon/context-document.ts';
import { wholePercent } from '../../../model/percent.ts';
import { askDaemon } from '../daemon.ts';
import { exit } from '../outcome.ts';
import { print, printJson } from '../output.ts';

const sizes: readonly TaskSize[] = ['tiny', 'small', 'large'];

export function addCanAccept(program: Command): void {
  program
    .command('can-accept')
    .summary('may an agent be given a task of this size now?')
    .description(
      'Yes (exit 0) or no (exit 1), by how full its context is: any task below half, then small ones, then tiny ones, ' +
        'then none before a handoff. An agent that waits, is limited, has ended or cannot be read takes none.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .addOption(new Option('--size <size>', 'how large the task is').choices(sizes).makeOptionMandatory())
    .option('--json', 'one JSON document')
    .action(async (agent: string, options: { size: TaskSize; json?: boolean }) => {
      const answer = await askDaemon('can-accept', { agent, size: options.size });
      if (options.json) printJson(answer);
      else print(answerText(answer));
      if (!answer.accept) process.exitCode = exit.no;
    });
}

function answerText({ accept, percent, band, reason, rule }: AdmissionDocument): string {
  if (reason === 'context-unknown') return 'no, its context is not known';
  if (reason === 'handoff') return 'no, its context is being handed over';
  if (reason !== null && reason !== 'band') return `no, it is ${reason}`;
  return `${accept ? 'yes' : 'no'}, ${wholePercent(percent ?? 0)}% ${band}: ${rule}`;
}
