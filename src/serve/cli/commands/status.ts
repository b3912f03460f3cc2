import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { findHome } from '../../../home/home.ts';
import { askDaemon } from '../daemon.ts';
import { hostsText } from '../hosts-text.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { folded, pageRoom, print, printJson } from '../output.ts';
import { redraw } from '../redraw.ts';
import { statusText } from '../status-text.ts';

interface StatusOptions {
  allHosts?: boolean;
  watch?: boolean;
  json?: boolean;
}

const watchMs = 1_000;
/** From the start of the program to its last word, whatever the daemon does. */
const answeredMs = 900;
const answerLeastMs = 250;

export function addStatus(program: Command): void {
  program
    .command('status')
    .summary('what every agent is doing now')
    .description(
      'Shows who needs you, and every agent: its state and since when, its context, what is wrong with it and what comes ' +
        'next. Those that need somebody come first.',
    )
    .argument('[agent]', 'only this one')
    .option('--all-hosts', 'those of every host on this database, as each last wrote them down')
    .option('-w, --watch', 'show it anew every second, in place; Ctrl-C ends')
    .option('--json', 'one JSON document; with --watch one a line')
    .addHelpText(
      'after',
      '\nStates: working (thinking, tool, subagent, api-stall), idle, waiting\n' +
        '(permission, question, dialog, setup), retrying, limited, compacting, ended,\n' +
        "unknown. SOURCE says who told: registry and transcript are the client's own\n" +
        'records. A narrow terminal has fewer columns; a pipe has all of them.',
    )
    .action(async (name: string | undefined, options: StatusOptions) => {
      if (options.allHosts && name !== undefined)
        throw new CommandFailure(exit.usage, '--all-hosts shows every agent', 'name one without it');
      const look = () => (options.allHosts ? ofAllHosts() : ofThisHost(name));
      const first = await look();
      if (options.watch && !options.json && process.stdout.isTTY) await watchHere(first.text(), look);
      for (let now = first; ; now = await look()) {
        if (options.json) printJson(now.document);
        else print(now.text());
        if (!options.watch) return;
        await sleep(watchMs);
      }
    });
}

type Look = () => Promise<{ document: object; text: () => string }>;

/** A daemon that is gone or silent for a while is said in its place, and looked for again. */
function watchHere(first: string, look: Look): Promise<never> {
  let known: string | null = first;
  return redraw(async () => {
    const text = known ?? (await look().then((now) => now.text(), failureText));
    known = null;
    return text;
  }, watchMs);
}

function failureText(error: unknown): string {
  if (!(error instanceof CommandFailure)) throw error;
  const text = [error.message, error.wayOut].filter((part) => part !== null).join(': ');
  return folded(`watchkeeper: ${text}`, pageRoom()).join('\n');
}

let isFirst = true;

async function ofThisHost(name: string | undefined) {
  const spentMs = isFirst ? performance.now() : 0;
  isFirst = false;
  const withinMs = Math.max(answerLeastMs, answeredMs - spentMs);
  const document = await (name === undefined
    ? askDaemon('status', {}, withinMs)
    : askDaemon('agent-status', { agent: name }, withinMs));
  const started = document.agents.length > 0 ? '' : (await import('../../../clients/clients.ts')).watchedTitles;
  return { document, text: () => statusText(document, { nowMs: Date.now(), room: pageRoom(), started }) };
}

/** From the database, so it works with the daemon down too. */
async function ofAllHosts() {
  // What reads a database takes longer to load than `status` takes for all of its work.
  const [{ allHosts }, { onRecord, queryFailure }] = await Promise.all([
    import('../../../daemon/hosts-document.ts'),
    import('../database.ts'),
  ]);
  const read = await onRecord((url) => allHosts(url, findHome(process.env)));
  if (!read.ok) throw queryFailure(read);
  return { document: read.value, text: () => hostsText(read.value) };
}
