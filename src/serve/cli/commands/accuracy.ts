import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AccuracyDocument, accuracy, groundItems, groundsMarkdown } from '../../../run/accuracy.ts';
import { databaseFailure, needDatabaseUrl } from '../database.ts';
import { print, printJson, table } from '../output.ts';

interface AccuracyOptions {
  since: number;
  grounds?: boolean;
  markdown?: boolean;
  json?: boolean;
}

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

export function addAccuracy(program: Command): void {
  program
    .command('accuracy')
    .summary("each health check's own record on this machine")
    .description(
      'How often each check was right here, by how its findings ended: over by itself, a person acted, a prompt helped, ' +
        'the turn failed, the agent died. What nobody can know counts as unclear, and neither for nor against it. ' +
        'Precision is of those that are right or wrong, with its 95 % Wilson interval. Works with the daemon down as long ' +
        'as the database runs.',
    )
    .addOption(
      new Option('--since <when>', 'only what was raised since: 7d, 12h, or a time such as 2026-01-31')
        .argParser(parseSince)
        .default(0, 'the beginning'),
    )
    .option('--grounds', 'instead: what each check rests on, and whether anything is done about it')
    .addOption(new Option('--markdown', 'the grounds as docs/checks.md').implies({ grounds: true }))
    .option('--json', 'one JSON document')
    .action(async (options: AccuracyOptions) => {
      if (options.grounds) showGrounds(options);
      else await showAccuracy(options);
    });
}

function showGrounds({ json, markdown }: AccuracyOptions): void {
  const items = groundItems();
  if (json) printJson({ v: 1, items });
  else if (markdown) print(groundsMarkdown().trimEnd());
  else
    print(
      table(
        ['CHECK', 'AT MOST', 'GROUND'],
        items.map(({ check, does, ground }) => [check, does, ground].map((text) => ({ text }))),
      ),
    );
}

async function showAccuracy({ since, json }: AccuracyOptions): Promise<void> {
  const read = await accuracy(needDatabaseUrl(), since);
  if (!read.ok) throw databaseFailure(read.message);
  if (json) printJson(read.value);
  else print(read.value.items.length === 0 ? 'nothing has been raised yet' : accuracyText(read.value));
}

function accuracyText({ items }: AccuracyDocument): string {
  const rows = items.map((item) =>
    [
      item.check,
      `${item.raised}`,
      `${item.right}`,
      `${item.wrong}`,
      `${item.unclear}`,
      `${item.open}`,
      item.precision === null || item.ci === null
        ? '-'
        : `${item.precision.toFixed(2)} (${item.ci.map((bound) => bound.toFixed(2)).join('–')})`,
      item.median_open_s === null ? '-' : duration(item.median_open_s),
    ].map((text) => ({ text })),
  );
  return table(['CHECK', 'FOUND', 'RIGHT', 'WRONG', 'UNCLEAR', 'OPEN', 'PRECISION', 'MEDIAN'], rows);
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)}s`;
  return seconds < 3_600 ? `${Math.round(seconds / 60)}m` : `${Math.round(seconds / 360) / 10}h`;
}

function parseSince(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const atMs = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (unitMs[unit] ?? 0);
  if (!Number.isFinite(atMs)) throw new InvalidArgumentError('write 7d, 12h, 30m, or a time such as 2026-01-31');
  return atMs;
}
