import { Command, CommanderError } from 'commander';
import { findHome, homeFix, runningDaemon, whyNotSafe } from '../../home/home.ts';
import { version } from '../../home/version.ts';
import { shown } from '../../model/text.ts';
import { addCommands, isCommand } from './commands.ts';
import { inLocale } from './locale.ts';
import { CommandFailure, exit } from './outcome.ts';
import { print, printJson, say, wrapped } from './output.ts';

const words: Record<number, string> = {
  [exit.no]: 'refused',
  [exit.usage]: 'usage',
  [exit.noDaemon]: 'no-daemon',
  [exit.notFound]: 'not-found',
  [exit.noDatabase]: 'no-database',
  [exit.timeout]: 'timeout',
  [exit.uncertain]: 'uncertain',
};

export async function run(given: string[]): Promise<void> {
  if (given.length <= 2 && runningDaemon(findHome(process.env)) === null) return print(howToBegin);
  const argv = given.length <= 2 ? [...given, 'status'] : given;
  // Nothing that is made may be written to by others, nor be closed to ourselves, whatever the shell was told.
  process.umask((process.umask(0o077) & 0o077) | 0o022);
  const program = new Command('watchkeeper')
    .description('Keeps AI coding agents working while nobody is watching.')
    .version(version)
    .usage('[command]')
    .addHelpText('after', isCommand(argv[2]) ? '' : await closingWords());
  await addCommands(program, argv[2]);
  let misused = program.name();
  forEachCommand(program, (command) => {
    command
      .exitOverride((error) => {
        misused = nameOf(command);
        throw error;
      })
      .showHelpAfterError(false)
      // Errors are said in our own words; help that was not asked for is still help.
      .configureOutput({
        writeOut: (text) => void process.stdout.write(inLocale(text)),
        writeErr: (text) => void (text.startsWith('Usage:') && process.stderr.write(text)),
      });
  });
  program.hook('preAction', (_program, command) => needSafeHome(topOf(command)));
  // The embedded server's address is whole: nothing of a PostgreSQL client's environment may change it.
  if (!process.env.DATABASE_URL) for (const name of ['PGPORT', 'PGSSLMODE', 'PGOPTIONS']) delete process.env[name];
  // `watchkeeper events | head` must end quietly.
  process.stdout.on('error', () => process.exit(exit.ok));
  // Messages that nobody can read, for a closed pipe or a full disk, are no reason to end.
  process.stderr.on('error', () => {});
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, misused, argv.includes('--json'));
  }
}

/** Only where the help of all is shown: what it takes to say it a command has no use for. */
async function closingWords(): Promise<string> {
  const [{ watchedTitles }, { topicNames }] = await Promise.all([
    import('../../clients/clients.ts'),
    import('./help/topics.ts'),
  ]);
  return `
Begin with \`watchkeeper up --watch-only\`: it says what it sees and what it
would do, and types nothing. Alone, \`watchkeeper\` shows the status.

Agents are found by themselves: ${watchedTitles} in any tmux session of yours is
named after the session; one in a plain terminal after its directory and pid.
Only those in a session named *-ps may be typed to, unless you say otherwise.

More: watchkeeper COMMAND --help, with examples; watchkeeper help TOPIC, of
${wrapped(topicNames.join(', '))}.

Environment: WATCHKEEPER_HOME (data directory), WATCHKEEPER_CONFIG (its
configuration), DATABASE_URL (a PostgreSQL of your own), NO_COLOR.`;
}

/** Where nothing runs yet, somebody may not know how to begin. */
const howToBegin = `No daemon is running, so nothing is watched. To begin:

  watchkeeper up --watch-only   look on: what is there, and what would be done
  watchkeeper up                watch and act; says first whom it may type to
  watchkeeper replay            what it would have told you about past runs
  watchkeeper doctor            is everything there that it needs
  watchkeeper --help            every command`;

function forEachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEachCommand(child, visit);
}

/** These have no use for the data directory, or say what is wrong with it. */
const homeless = ['doctor', 'config', 'replay', 'eval', 'help'];

/** What stands in it is believed and obeyed by every other command. */
function needSafeHome(command: string): void {
  const home = findHome(process.env);
  const why = homeless.includes(command) ? null : whyNotSafe(home);
  if (why !== null) throw new CommandFailure(exit.usage, `the data directory ${home.dir} ${why}`, homeFix);
}

/** `spawn-track` of `spawn-track add`. */
function topOf(command: Command): string {
  return command.parent?.parent == null ? command.name() : topOf(command.parent);
}

/** With those it is below: `watchkeeper spawn-track add`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** `misused`: the command whose own help says what it takes. */
function report(error: unknown, misused: string, json: boolean): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exit.ok;
    // A command that only has commands below it, named without one: its help has been printed.
    if (error.code === 'commander.help') return exit.usage;
    return fail(exit.usage, oneLine(error.message), `see \`${misused} --help\``, json);
  }
  if (error instanceof CommandFailure) return fail(error.code, error.message, error.wayOut, json);
  return fail(exit.usage, `unexpected: ${(error as Error).stack ?? String(error)}`, 'please report it', json);
}

/** The parser's message, in the form of ours: one line, what was wrong and then what is allowed. */
function oneLine(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^command-argument value/, 'value')
    .replace(/ (is invalid|for argument '[^']*')\. (?:Allowed choices are )?/, ' $1: allowed: ')
    .replace(/\. Expected 0 arguments but got \d+\.$/, '')
    .replace(/\.$/, '');
}

function fail(code: number, message: string, wayOut: string | null, json: boolean): number {
  say(shown(wayOut === null ? message : `${message}: ${wayOut}`));
  if (json) printJson({ v: 1, error: { code: words[code] ?? 'failed', message: shown(message) } });
  return code;
}
