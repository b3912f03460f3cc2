import type { Command } from 'commander';
import type { RequestDocument } from '../../../daemon/requests/table.ts';
import { askDaemon } from '../daemon.ts';
import { ago, commandLine, print, printJson, say, withOwnTimes, wrapped } from '../output.ts';

type Inbox = RequestDocument<'inbox'>;
type InboxItem = Inbox['items'][number];

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
      else print(inboxText(inbox));
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

function inboxText({ items, soon }: Inbox): string {
  if (items.length + soon.length === 0) return 'nobody needs you';
  return [
    ...items.map((item) => itemText(item, item.name, item.id.slice(0, 8))),
    ...soon.map((item) => itemText(item, item.agent, 'nobody was told yet')),
  ].join('\n');
}

type Said = Pick<InboxItem, 'kind' | 'since' | 'text' | 'answer_with'>;

function itemText(item: Said, name: string, known: string): string {
  const since = ago(Date.parse(item.since), Date.now());
  return [
    wrapped(`${name}  ${item.kind}  for ${since}  ${known}`),
    wrapped(withOwnTimes(item.text), '  '),
    ...item.answer_with.map(commandLine),
  ].join('\n');
}
