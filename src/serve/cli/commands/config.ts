import os from 'node:os';
import type { Command } from 'commander';
import { configJsonSchema } from '../../../config/json-schema.ts';
import { checkConfigFile, loadConfig } from '../../../config/load.ts';
import { forget } from '../../../config/memory.ts';
import { projectKeys } from '../../../config/narrow.ts';
import type { ConfigPlaces } from '../../../config/places.ts';
import { formatProblem } from '../../../config/problem.ts';
import { configDocument, configText } from '../../../config/show.ts';
import { findHome } from '../../../home/home.ts';
import { shown } from '../../../model/text.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say, wrapped } from '../output.ts';

export function addConfig(program: Command): void {
  const config = program
    .command('config')
    .summary('check and show the configuration')
    .description(
      'The configuration is ~/.config/watchkeeper/config.yaml (or the file WATCHKEEPER_CONFIG names), narrowed by ' +
        `watchkeeper.yaml in the current directory for the agents in it (${projectKeys.join(', ')}). Everything has a ` +
        'default; no file is needed.',
    );
  config
    .command('check')
    .description(
      'check the files in force, or FILE; exits 2 and names file, line and allowed values if something is wrong',
    )
    .argument('[file]')
    .option('--json', 'one JSON document')
    .action((file: string | undefined, options: { json?: boolean }) => {
      const loaded = file === undefined ? loadConfig(places()) : checkConfigFile(file, places());
      if (!loaded.ok) {
        if (options.json) printJson({ v: 1, ok: false, problems: loaded.problems });
        for (const problem of loaded.problems.slice(0, -1)) say(formatProblem(problem));
        const last = loaded.problems.at(-1);
        throw new CommandFailure(exit.usage, last === undefined ? loaded.message : formatProblem(last));
      }
      if (options.json) printJson({ v: 1, ok: true, problems: [] });
      else print('the configuration is good');
    });
  config
    .command('show')
    .description('every value in force, and where it comes from')
    .option('--json', 'one JSON document')
    .action((options: { json?: boolean }) => {
      const loaded = loadConfig(places());
      if (!loaded.ok) throw new CommandFailure(exit.usage, loaded.message);
      if (options.json) printJson(configDocument(loaded.value));
      else print(configText(loaded.value).trimEnd().split('\n').map(folded).join('\n'));
    });
  config
    .command('forget')
    .summary('say that a missing configuration file is gone on purpose')
    .description(
      'A file that is gone or empty does not bring the defaults back: the daemon keeps what it said, and a start that ' +
        'misses a file of the last run does nothing to the agents that the file was about. After `forget` the next ' +
        'start takes the files as they are.',
    )
    .action(() => {
      const forgotten = forget(findHome(process.env));
      if (forgotten.length === 0) print('no configuration file is missing');
      else print(`forgotten: ${forgotten.map((file) => shown(file)).join(', ')}; the next start does not look for it`);
    });
  config
    .command('schema')
    .description('the JSON Schema of the configuration, for editors')
    .action(() => print(configJsonSchema().trimEnd()));
}

/** A long text goes on below, on a terminal; a program gets one line a value. */
function folded(entry: string): string {
  return process.stdout.isTTY ? wrapped(entry, '  ').slice(2) : entry;
}

function places(): ConfigPlaces {
  return { file: process.env.WATCHKEEPER_CONFIG ?? null, home: os.homedir(), projectDir: process.cwd() };
}
