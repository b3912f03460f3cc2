import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AccuracyDocument, accuracy, groundItems, groundsMarkdown } from '../../../findings/accuracy.ts';
import { databaseFailure, onRecord } from '../database.ts';
import { hanging, print, printJson, say, table } from '../output.ts';
import { sinceOf } from '../since.ts';

interface AccuracyOptions {
  since: number;
  grounds?: boolean;
  markdown?: boolean;
  json?: boolean;
}

export function addAccuracy(program: Command): void {
  program
    .command('accuracy')
    .summary("each health check's own record on this machine")
    .description(
      'How often each check was right on this machine, judged by how its findings ended: over by itself, a person acted, ' +
        'a prompt helped, the turn failed, the agent died. Where that cannot be known a finding is unclear, and counts ' +
        'neither for nor against its check. Precision is the share of right ones among right and wrong, with its 95 % ' +
        'Wilson interval. Works with the daemon down too.',
    )
    .addOption(
      new Option('--since <when>', 'only what was found since: 7d, 12h, or a time such as 2026-01-31')
        .argParser(parseSince)
        .default(0, 'the beginning'),
    )
    .option('--grounds', 'show instead what each check rests on, and whether anything is done about it')
    .addOption(new Option('--markdown', 'the same in the form of docs/checks.md').implies({ grounds: true }))
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
  else print(groundsText(items));
}

/** Whole: a ground cut short is none. */
function groundsText(items: ReturnType<typeof groundItems>): string {
  const rows = [{ check: 'CHECK', does: 'AT MOST', ground: 'GROUND' }, ...items];
  const columns = (key: 'check' | 'does') => Math.max(...rows.map((row) => row[key].length));
  const [check, does] = [columns('check'), columns('does')];
  return rows
    .map((row) => hanging([{ text: row.check.padEnd(check) }, { text: row.does.padEnd(does) }], row.ground))
    .join('\n');
}

async function showAccuracy({ since, json }: AccuracyOptions): Promise<void> {
  const read = await onRecord((url) => accuracy(url, since));
  if (!read.ok) throw databaseFailure(read.message);
  if (json) printJson(read.value);
  else if (read.value.items.length === 0) say('nothing has been found yet');
  else print(accuracyText(read.value));
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
  const atMs = sinceOf(text, Date.now());
  if (!Number.isFinite(atMs)) throw new InvalidArgumentError('7d, 12h, 30m, or a time such as 2026-01-31');
  return atMs;
}
