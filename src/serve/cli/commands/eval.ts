import type { Command } from 'commander';
import { type EvalDocument, evaluate } from '../../../eval/eval.ts';
import { labelNames } from '../../../eval/labelled-runs.ts';
import { evalMarkdown } from '../../../eval/markdown.ts';
import { counted } from '../../../model/count.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say, table, wrapped } from '../output.ts';

export function addEval(program: Command): void {
  program
    .command('eval')
    .summary('how often the health checks are right, on labelled runs')
    .description(
      'Puts the runs that DIR/labels.jsonl names through the health checks and prints precision, recall and delay with ' +
        'their intervals, beside simpler rules.',
    )
    .argument('<dir>', 'the folder with labels.jsonl')
    .option('--json', 'one JSON document')
    .option('--markdown', 'as docs/reports/eval.md')
    .addHelpText(
      'after',
      `
A line of labels.jsonl, with a run beside it (any file that \`replay\` reads):
  {"id":"r1","label":"looping","events":"runs/r1.jsonl","format":"neutral",
   "onset_index":12,"end_index":40,"hard_negative":false,"sample":"random"}
label: ${labelNames.slice(0, 6).join(', ')},
${labelNames.slice(6).join(', ')}. Indexes
count the run's lines from 0; null: all of it. hard_negative: healthy, but looks
bad. sample: random, or targeted where trouble was looked for.`,
    )
    .action(async (folder: string, options: { json?: boolean; markdown?: boolean }) => {
      const done = await evaluate(folder, (text) => {
        if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`);
      });
      if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
      if (!done.ok) throw new CommandFailure(exit.notFound, done.message, done.fix ?? null);
      if (options.json) printJson(done.value);
      else print(options.markdown ? evalMarkdown(done.value).trimEnd() : evalText(done.value));
      const { unreadable, unread } = done.value;
      if (unreadable > 0)
        say(`${counted(unreadable, 'label or run', 'labels or runs')} left out, the first: ${unread[0]}`);
    });
}

function evalText(result: EvalDocument): string {
  const share = (value: number | null) => (value === null ? '-' : value.toFixed(2));
  const row = (name: string, { tp, fp, fn, precision, recall, f05 }: EvalDocument['overall']) =>
    [name, `${tp + fn}`, `${tp}`, `${fp}`, share(precision), share(recall), share(f05)].map((text) => ({ text }));
  const rows = [
    ...Object.entries(result.by_family).map(([name, figures]) => row(name, figures)),
    row('all', result.overall),
    ...Object.entries(result.baselines).map(([name, figures]) => row(`${name} (loop)`, figures)),
  ];
  const { hard_negatives: hard } = result;
  return [
    `${counted(result.runs, 'run')}, ${counted(result.labels, 'label')}, ${result.open_turn_hours} h with a turn open`,
    table(['FAMILY', 'N', 'FOUND', 'WRONG', 'PRECISION', 'RECALL', 'F0.5'], rows),
    `hard negatives that pass: ${hard.passed} of ${hard.n}; false alarms per hour: ${result.false_alarms_per_hour ?? '-'}`,
    wrapped(`missed: ${result.missed.map(({ id }) => id).join(' ') || '-'}`),
  ].join('\n');
}
