import { once } from 'node:events';
import type { Command } from 'commander';
import { backUp, type Copied, type CopyFailure, type CopyOptions, restore } from '../../../daemon/backup.ts';
import { findHome } from '../../../home/home.ts';
import { counted } from '../../../model/count.ts';
import type { Result } from '../../../model/result.ts';
import { exportRows } from '../../../rows/records.ts';
import { databaseFailure, needDatabaseUrl, onRecord } from '../database.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { dateAndClock, print, printJson, say } from '../output.ts';
import { Progress } from '../progress.ts';

export function addDb(program: Command): void {
  const db = program
    .command('db')
    .summary('the database: its URL, everything in it, a backup and back')
    .description(
      'Everything on record is in PostgreSQL: an embedded server of its own, or the one DATABASE_URL names.',
    );
  db.command('url')
    .description('its address in one line, for psql and other clients')
    .option('--json', 'one JSON document')
    .action(({ json }: { json?: boolean }) => {
      const url = needDatabaseUrl();
      if (json) printJson({ v: 1, url });
      else print(url);
    });
  db.command('export')
    .description('every row of every table as a line of JSON: {"table":…,"row":{…}}')
    .action(async () => {
      const done = await onRecord((url) =>
        exportRows(url, async (table, row) => {
          const line = `${JSON.stringify({ table, row })}\n`;
          if (!process.stdout.write(line)) await once(process.stdout, 'drain');
        }),
      );
      if (!done.ok) throw databaseFailure(done.message);
    });
  db.command('backup')
    .summary('write everything on record into one file')
    .description(
      'Writes everything on record, as it is at one moment, into a file that only you may read. It works whether the ' +
        'daemon runs or not. An earlier backup of that name is replaced.',
    )
    .argument('<file>')
    .option('--json', 'one JSON document')
    .action(async (file: string, { json }: { json?: boolean }) => {
      const done = need(await watched('backing up', (wish) => backUp(file, wish)));
      if (json) return printJson(document(file, done));
      print(`${file}: ${rowsText(done)}, ${(done.bytes / 1e6).toFixed(1)} MB`);
    });
  db.command('restore')
    .summary('put a backup back into the database')
    .description(
      'Puts a backup into an empty database, whole or not at all. It may be of an earlier Watchkeeper, or of another major ' +
        'version of PostgreSQL. No daemon may run. What was seen and done after the backup is not on record any more.',
    )
    .argument('<file>')
    .option('--replace', 'also where the database is not empty: everything in it is lost')
    .option('--json', 'one JSON document')
    .action(async (file: string, { json, replace }: { json?: boolean; replace?: boolean }) => {
      const done = need(await watched('restoring', (wish) => restore(file, replace === true, wish)));
      if (json) return printJson(document(file, done));
      print(`restored: ${rowsText(done)}, as they were at ${dateAndClock(done.head.at)}`);
    });
}

/** With a bar, and stopped by Ctrl-C with nothing half done. */
async function watched<T>(
  what: string,
  work: (wish: Parameters<typeof backUp>[1]) => Promise<Result<T, CopyFailure>>,
): Promise<Result<T, CopyFailure>> {
  let bar: Progress | null = null;
  const stopped = new AbortController();
  const stop = () => stopped.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  const watch: CopyOptions['watch'] = (done, total) => {
    bar ??= new Progress(total, what);
    bar.reach(done);
  };
  const done = await work({
    ...{ home: findHome(process.env), environment: process.env, watch, signal: stopped.signal },
    progress: (line) => void (process.stderr.isTTY && say(line)),
    notice: say,
  });
  (bar as Progress | null)?.clear();
  return done;
}

const codes: Record<CopyFailure, number> = {
  unavailable: exit.noDatabase,
  unwritable: exit.usage,
  'bad-file': exit.usage,
  newer: exit.usage,
  'not-empty': exit.no,
  'in-use': exit.no,
  stopped: exit.no,
};

function need(done: Result<Copied, CopyFailure>): Copied {
  if (!done.ok) throw new CommandFailure(codes[done.reason], done.message, done.fix ?? null);
  return done.value;
}

function rowsText({ rows }: Copied): string {
  return counted(
    Object.values(rows).reduce((sum, each) => sum + each, 0),
    'row',
  );
}

function document(file: string, { head, bytes, rows }: Copied) {
  const { version, schema, server, at, hosts } = head;
  return { v: 1, file, bytes, at, from: { version, schema, server }, hosts, rows };
}
