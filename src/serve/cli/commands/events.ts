import { type Command, InvalidArgumentError } from 'commander';
import { followControl } from '../../../daemon/control.ts';
import { recentEvents } from '../../../rows/records.ts';
import { askDaemon, needDaemon } from '../daemon.ts';
import { onRecord, queryFailure } from '../database.ts';
import { type EventLine, eventText } from '../event-text.ts';
import { print, printJson, say } from '../output.ts';

interface EventsOptions {
  follow?: boolean;
  json?: boolean;
  limit: number;
}

export function addEvents(program: Command): void {
  program
    .command('events')
    .summary('what was seen, one line per event')
    .description(
      'The recorded events of one agent or of all, oldest first, in a few words; --json has all that is known of each. With --follow it goes on with new ones.',
    )
    .argument('[agent]', 'its name, as `status` shows it')
    .option('-f, --follow', 'go on with every new event')
    .option('-n, --limit <count>', 'how many of the newest to begin with', wholeNumber, 50)
    .option('--json', 'one JSON document a line')
    .action(async (agent: string | undefined, options: EventsOptions) => {
      const following = options.follow ? follow(await nameOf(agent), options.json === true) : null;
      const read = await onRecord((url) => recentEvents(url, agent ?? null, options.limit));
      if (!read.ok) {
        following?.stop();
        throw queryFailure(read);
      }
      for (const event of read.value) show(event, options.json === true);
      if (read.value.length === 0 && !options.json) say('nothing was seen yet');
      following?.begin();
      await following?.ended;
    });
}

/** New events have the plain name. */
async function nameOf(agent: string | undefined): Promise<string | undefined> {
  return agent === undefined ? agent : (await askDaemon('agent-health', { agent })).agent;
}

/** Listens before the record is read, and speaks after: so no event falls in between. */
function follow(agent: string | undefined, json: boolean) {
  const early: EventLine[] = [];
  let begun = false;
  const following = followControl(needDaemon().sockets.control, (line) => {
    const event = line as unknown as EventLine;
    if (agent !== undefined && event.agent !== agent) return;
    if (begun) show(event, json);
    else early.push(event);
  });
  return {
    ended: following.ended,
    stop: following.stop,
    begin() {
      begun = true;
      for (const event of early.splice(0)) show(event, json);
    },
  };
}

function show(event: EventLine, json: boolean): void {
  const { at, agent, source, kind, data } = event;
  if (json) printJson({ v: 1, at, agent, source, kind, data });
  else print(eventText(event));
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1_000_000)
    throw new InvalidArgumentError('a whole number from 1 to 1000000');
  return number;
}
