import type { Command } from 'commander';
import type { RequestDocument } from '../../../daemon/requests/table.ts';
import { askDaemon } from '../daemon.ts';
import { ago, print, printJson, say, withOwnTimes, wrapped } from '../output.ts';

type InboxItem = RequestDocument<'inbox'>['items'][number];

export function addInbox(program: Command): void {
  program
    .command('inbox')
    .summary('what waits for a human, and how to answer')
    .description(
      'What only a human can settle, each with the commands that answer it. An item goes when its trouble is over; ' +
        '`ack ID` only stops the messages about it.',
    )
    .option('--json', 'one JSON document')
    .action(async (options: { json?: boolean }) => {
      const inbox = await askDaemon('inbox', {});
      if (options.json) printJson(inbox);
      else print(inbox.items.length === 0 ? 'nobody waits for you' : inbox.items.map(itemText).join('\n'));
    });
  program
    .command('ack')
    .summary('acknowledge what waits: no more messages about it')
    .argument('<id>', 'as `inbox` or `health --json` shows it; its beginning is enough')
    .option('--wrong', 'there is no such trouble: counts against the check in `accuracy`')
    .action(async (id: string, options: { wrong?: boolean }) => {
      await askDaemon('ack', { id, denied: options.wrong ?? false });
      say(options.wrong ? 'noted as wrong' : 'acknowledged');
    });
}

function itemText(item: InboxItem): string {
  const since = ago(Date.parse(item.since), Date.now());
  return [
    wrapped(`${item.agent}  ${item.kind}  for ${since}  ${item.id.slice(0, 8)}`),
    wrapped(withOwnTimes(item.text), '  '),
    // Whole, so that they can be pasted.
    ...item.answer_with.map((command) => `  $ ${command}`),
  ].join('\n');
}
