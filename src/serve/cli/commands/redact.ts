import type { Command } from 'commander';
import { type RedactFailure, redactEverywhere, secretBytesMax, whyNoSecret } from '../../../daemon/redact.ts';
import { findHome } from '../../../home/home.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say } from '../output.ts';

export function addRedact(program: Command): void {
  program
    .command('redact')
    .summary('take a secret out of everything stored')
    .description(
      'Reads one secret from standard input and puts `[redacted]` in its place in every table, the ledger ' +
        'included, and in the log and inbox of Watchkeeper. A handoff that held it gets the hash of its new text. The rows changed ' +
        'in each table are on record (`audit`), the secret is not. Secrets of usual forms are taken out before anything ' +
        'is stored; this is for one that was not recognised. It works whether the daemon runs or not.',
    )
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Never as an argument, where every process could read it:
  printf %s "$SECRET" | watchkeeper redact
  read -rs SECRET && printf %s "$SECRET" | watchkeeper redact

At least 6 characters; one line end behind it is not part of it. Names of
fields and numbers stay. What is part of a word of Watchkeeper's own, or of the
name of an agent, a project or a host, is refused. An agent's own files
(transcripts) are its client's and are not touched: change the secret where it
is valid.
Backups of the database and files named at the end still hold it.`,
    )
    .action(async (options: { json?: boolean }) => {
      const secret = await fromStandardInput();
      const why = whyNoSecret(secret);
      if (why !== null) throw new CommandFailure(exit.usage, why, 'give the secret on standard input, see --help');
      const done = await redactEverywhere(secret, {
        home: findHome(process.env),
        environment: process.env,
        progress: (line) => void (process.stderr.isTTY && say(line)),
      });
      if (!done.ok) throw new CommandFailure(codes[done.reason], done.message, done.fix ?? null);
      const { replaced, files, left } = done.value;
      if (options.json) printJson({ v: 1, replaced, files, left });
      else
        print(
          [...tableLines(replaced), ...files.map((file) => `${file}: replaced`)].join('\n') || 'it was found nowhere',
        );
      for (const file of left) say(`${file} holds it and was left as it is`);
    });
}

const codes: Record<RedactFailure, number> = {
  refused: exit.usage,
  unavailable: exit.noDatabase,
  daemon: exit.noDaemon,
};

function tableLines(replaced: Record<string, number>): string[] {
  return Object.entries(replaced).map(([table, rows]) => `${table}: ${rows} ${rows === 1 ? 'row' : 'rows'}`);
}

async function fromStandardInput(): Promise<string> {
  if (process.stdin.isTTY) say('the secret, then Ctrl-D (it is shown as you type; `read -rs` does not):');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > secretBytesMax)
      throw new CommandFailure(
        exit.usage,
        `it is larger than ${secretBytesMax / 1024} KiB`,
        'give one secret at a time',
      );
    chunks.push(chunk);
  }
  const given = Buffer.concat(chunks);
  // What is no UTF-8 was never stored.
  return given.toString('utf8').replace(/\r?\n$/, '');
}
