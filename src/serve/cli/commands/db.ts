import { once } from 'node:events';
import type { Command } from 'commander';
import { exportEverything } from '../../../rows/records.ts';
import { databaseFailure, needDatabaseUrl } from '../database.ts';
import { print } from '../output.ts';

export function addDb(program: Command): void {
  const db = program
    .command('db')
    .summary('the database: its URL, and everything in it')
    .description('All that was seen is in PostgreSQL: an embedded server of its own, or the one DATABASE_URL names.');
  db.command('url')
    .description('one line for psql and other clients')
    .action(() => print(needDatabaseUrl()));
  db.command('export')
    .description('every row of every table as a line of JSON: {"table":…,"row":{…}}')
    .action(async () => {
      const done = await exportEverything(needDatabaseUrl(), async (table, row) => {
        const line = `${JSON.stringify({ table, row })}\n`;
        if (!process.stdout.write(line)) await once(process.stdout, 'drain');
      });
      if (!done.ok) throw databaseFailure(done.message);
    });
}
