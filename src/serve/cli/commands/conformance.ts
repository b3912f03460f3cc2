import { type Command, Option } from 'commander';
import { clients } from '../../../clients/clients.ts';
import { type ConformanceFailure, runConformance } from '../../../conform/conformance.ts';
import { findHome, makeHomeDir } from '../../../home/home.ts';
import type { SignalResult } from '../../../watch/conformance-results.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say, table, wrapped } from '../output.ts';

interface ConformanceWords {
  client: string;
  program?: string;
  keep?: boolean;
  json?: boolean;
}

const triable = clients.flatMap((client) => (client.trial === undefined ? [] : [{ ...client, trial: client.trial }]));
const titles = triable.map(({ title }) => title).join(' or ');
const programs = triable.map(({ recognition }) => recognition.program).join(' or ');

const exitCodes: Record<ConformanceFailure, number> = {
  'no-client': exit.notFound,
  'timed-out': exit.timeout,
  stopped: 130,
  outside: exit.no,
  failed: exit.no,
};

/** What is still waited for somewhere must not hold up the end. */
const lingerMs = 500;

export function addConformance(program: Command): void {
  program
    .command('conformance')
    .summary('try out which signals of the installed client still tell the truth')
    .description(
      `Takes the installed ${titles} through every state there is — prompt, thinking, tool, dialogs, subagent, retries, ` +
        'limit, compaction — and compares what each source says of it with the truth. What one of them tells wrongly is ' +
        'left out when a daemon judges or types to an agent of that version, until a later run finds it good again.',
    )
    .addOption(
      new Option('--client <name>', 'which client').choices(triable.map(({ name }) => name)).default(triable[0]?.name),
    )
    .option('--program <path>', `its program; default: \`${programs}\` on the PATH`)
    .option('--keep', 'leave the temp folder of the run, for a look at it')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
It takes about two minutes and no account: the client runs in a temp folder with
a home, tmux server, database and daemon of its own, against a model on loopback
that plays its part. Your settings, sessions and daemon are not touched; a
client that tries to reach anything beyond loopback fails the run. Ctrl-C cleans
up.

Run it after an update of the client, on a machine that is not busy:
  watchkeeper conformance
  watchkeeper conformance --program ~/versions/2.1.400/${programs}
  watchkeeper doctor        which versions were tried, and which signals are off

Exit codes: 0 all hold, 1 some do not, 2 usage, 4 no client, 6 timed out:
nothing was found out and nothing written.`,
    )
    .action(async (options: ConformanceWords) => {
      try {
        await conform(options);
      } finally {
        setTimeout(() => process.exit(), lingerMs).unref();
      }
    });
}

async function conform(options: ConformanceWords): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  const home = findHome(process.env);
  const made = makeHomeDir(home);
  if (!made.ok) throw new CommandFailure(exit.usage, made.message, made.fix ?? null);
  const client = triable.find(({ name }) => name === options.client);
  if (client === undefined)
    throw new CommandFailure(exit.usage, 'no such client', 'see `watchkeeper conformance --help`');
  const done = await runConformance({
    client,
    program: options.program ?? null,
    environment: process.env,
    resultDir: home.conformanceDir,
    keep: options.keep === true,
    progress: say,
    stop: stop.signal,
  });
  if (!done.ok) throw new CommandFailure(exitCodes[done.reason], done.message, done.fix ?? null);
  const { result, file, dangerous } = done.value;
  const broken = result.signals.filter(({ holds }) => !holds);
  if (options.json) printJson({ ...result, file, dangerous });
  else {
    print(signalTable(result.signals));
    print('');
    const where = `${client.title} ${result.client_version}`;
    if (broken.length === 0) print(`Every signal holds in ${where}.`);
    for (const { source, missed, off } of broken) {
      print(
        wrapped(`The ${source}'s word on ${off.join(', ')} is not used for judging or acting in ${where}. It said:`),
      );
      for (const what of missed) print(wrapped(what, '  '));
    }
    if (result.unplayed.length > 0)
      print(wrapped(`${where} could not be brought into these states, so nothing new is known about them:`));
    for (const { scenario, reason } of result.unplayed) print(wrapped(`${scenario}: ${reason}`, '  '));
    const { said, right } = result.fused;
    print(
      wrapped(`All together were right in ${right} of ${said} looks, and dangerously wrong in ${dangerous.length}.`),
    );
    for (const what of dangerous) print(wrapped(what, '  '));
    print(`Written to ${file}`);
  }
  if (broken.length > 0) process.exitCode = exit.no;
}

function signalTable(signals: SignalResult[]): string {
  return table(
    ['SIGNAL', 'HOLDS', 'RIGHT', 'OFF', 'MISSED'],
    signals.map(({ source, holds, said, right, off, missed }) => [
      { text: source },
      { text: holds ? 'yes' : 'NO', color: holds ? 'green' : 'red' },
      { text: `${right} of ${said}` },
      { text: off.length === 0 ? '-' : off.join(', ') },
      { text: missed.length === 0 ? '-' : missed.map((what) => what.split(':')[0]).join(', ') },
    ]),
  );
}
