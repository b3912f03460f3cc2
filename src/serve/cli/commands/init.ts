import { type Command, Option } from 'commander';
import { installable } from '../../../clients/clients.ts';
import type { Result } from '../../../model/result.ts';
import {
  type ChannelTest,
  type ChannelWish,
  channelTypes,
  planChannel,
  planRemoval,
  testChannels,
} from '../../../setup/channel.ts';
import { type FileDone, initialise, type SetupFailure } from '../../../setup/init.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, say } from '../output.ts';
import {
  configPlaces,
  fileText,
  printFiles,
  setupFailure,
  surroundings,
  type TargetOptions,
  targetOf,
} from '../setup.ts';

interface InitOptions extends TargetOptions {
  hooks: boolean;
  statusline?: boolean;
  instructions?: boolean;
  force?: boolean;
  dryRun?: boolean;
  notify?: ChannelWish['type'];
  channel?: string;
  url?: string;
  urlEnv?: string;
  command?: string[];
  testNotify?: boolean;
  removeNotify?: string;
  json?: boolean;
}

const { title, recognition, installer } = installable();
const variables = recognition.environmentNames.filter((name) => name !== 'HOME').join(' or ');

export function addInit(program: Command): void {
  program
    .command('init')
    .summary(`put hooks into ${title}'s settings, so that states are exact and at once`)
    .description(
      `Adds Watchkeeper's hooks to DIR/${installer.settings.ofProject} (default: the current directory), beside whatever is ` +
        'there; `uninstall` takes exactly them out again. Agents are watched without hooks too; with them every turn, ' +
        'tool and dialog is known the moment it happens. A status line that is there goes through ours and keeps its output.',
    )
    .argument('[dir]', 'the directory agents are started in; default: this one')
    .option(
      '--user',
      `your own settings instead (${recognition.defaultConfigDir('~')}, or ${variables}): all of your agents' projects`,
    )
    .option('--config-dir <path>', 'the settings of another config directory')
    .option(
      '--statusline',
      `also add a status line where there is none: context, cost and limits. ${installer.notes.statusLine}`,
    )
    .option('--instructions', `also add a marked block for the agent to ${installer.instructions.files.join(' / ')}`)
    .option('--no-hooks', 'leave the settings alone, for --instructions only')
    .option('--force', 'install also where other settings have the hooks already')
    .option('--dry-run', 'print what would change, and change nothing')
    .addOption(new Option('--notify <type>', 'add a way to reach you, if a test message arrives').choices(channelTypes))
    .option('--remove-notify <name>', 'take that one out again')
    .option('--channel <name>', 'its name; default: its type')
    .option('--url <url>', 'for webhook and ntfy; not for one that holds a secret')
    .option('--url-env <name>', 'the environment variable that holds the URL, for a secret one')
    .option('--command <words...>', 'for command: the program and its words (--command=-x for one with a dash)')
    .option('--test-notify', 'only send a test message through every channel')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
--notify alone adds no hooks: name the directory, or --user, for both.

Exit codes: 0 done or there already, 1 refused or a test message did not arrive,
2 settings or options that cannot be used, 4 no such directory.`,
    )
    .action(async (dir: string | undefined, options: InitOptions) => {
      if (options.testNotify) return reportTests(await tests(null), options.json === true);
      if (options.removeNotify !== undefined) return removeChannel(options.removeNotify, options);
      const wish = wishOf(options);
      const isForAgents = dir !== undefined || options.user || options.configDir !== undefined || options.statusline;
      if (wish !== null && !isForAgents) options.hooks = false;
      if (!options.hooks && !options.instructions && wish === null)
        throw new CommandFailure(
          exit.usage,
          'nothing to do',
          'leave --no-hooks out, or add --instructions or --notify',
        );
      const dryRun = options.dryRun === true;
      const channel = wish === null ? null : need(planChannel(wish, configPlaces()));
      const tested = channel === null || dryRun ? [] : await tests(channel.entry);
      const hasFailed = tested.some((test) => !test.ok);
      const { items, notes } = files(dir, options);
      const kept = hasFailed && channel?.did === 'installed' ? null : channel;
      if (kept !== null && !dryRun) need(kept.write());
      if (options.json) {
        const channels = kept === null ? [] : [{ file: kept.file, did: kept.did, channel: kept.entry.channel }];
        printJson({ v: 1, dry_run: dryRun, items, channels, tests: tested, notes });
      } else {
        printFiles(items, dryRun);
        if (kept !== null) print(fileText({ ...kept, detail: `channel ${kept.entry.channel}` }, dryRun));
        for (const test of tested) print(testText(test));
        for (const note of notes) say(note);
        if (!dryRun) for (const line of next(items, wish)) say(line);
      }
      if (!hasFailed || channel === null) return;
      process.exitCode = exit.no;
      const { channel: name } = channel.entry;
      if (!options.json)
        say(
          kept === null
            ? `${name} is not added`
            : `${name} stays: \`watchkeeper init --remove-notify ${name}\` takes it out`,
        );
    });
}

function removeChannel(name: string, { dryRun = false, json }: InitOptions): void {
  const { write, file, did } = need(planRemoval(name, configPlaces()));
  if (!dryRun) need(write());
  if (json)
    printJson({ v: 1, dry_run: dryRun, items: [], channels: [{ file, did, channel: name }], tests: [], notes: [] });
  else print(fileText({ file, did, detail: `channel ${name}` }, dryRun));
}

function need<T>(result: Result<T, SetupFailure>): T {
  if (!result.ok) throw setupFailure(result);
  return result.value;
}

function files(dir: string | undefined, options: InitOptions): { items: FileDone[]; notes: string[] } {
  return need(
    initialise(
      {
        target: targetOf(dir, options),
        hooks: options.hooks,
        statusLine: options.statusline === true,
        instructions: options.instructions === true,
        force: options.force === true,
        dryRun: options.dryRun === true,
      },
      surroundings(),
    ),
  );
}

function wishOf(options: InitOptions): ChannelWish | null {
  const { notify, channel, url, urlEnv, command } = options;
  if (notify === undefined) {
    const [stray] = Object.entries({ channel, url, urlEnv, command }).filter(([, value]) => value !== undefined);
    if (stray !== undefined) throw new CommandFailure(exit.usage, 'a channel without its type', 'add --notify TYPE');
    return null;
  }
  return { type: notify, channel: channel ?? null, url: url ?? null, urlEnv: urlEnv ?? null, command: command ?? [] };
}

async function tests(only: Parameters<typeof testChannels>[0]): Promise<ChannelTest[]> {
  return need(await testChannels(only, configPlaces(), process.env));
}

function reportTests(tested: ChannelTest[], json: boolean): void {
  if (tested.length === 0)
    throw new CommandFailure(exit.no, 'no channel is configured', 'add one with `watchkeeper init --notify TYPE`');
  if (json) printJson({ v: 1, tests: tested });
  else for (const test of tested) print(testText(test));
  if (tested.some((test) => !test.ok)) process.exitCode = exit.no;
}

function testText({ channel, ok, reason }: ChannelTest): string {
  return ok ? `test message through ${channel}: arrived` : `test message through ${channel}: failed, ${reason}`;
}

function next(items: FileDone[], wish: ChannelWish | null): string[] {
  const fresh = items.some(({ kind, did }) => kind === 'settings' && (did === 'installed' || did === 'updated'));
  return [
    ...(fresh ? [installer.notes.installed] : []),
    ...(wish === null
      ? ['`watchkeeper init --notify TYPE` adds a way to reach you; `--test-notify` tries what is there.']
      : []),
    ...(items.length === 0 ? ['no hooks were added; `watchkeeper init` adds them'] : []),
  ];
}
