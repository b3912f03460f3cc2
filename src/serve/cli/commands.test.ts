import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addCommands } from './commands.ts';
import { examples } from './help/examples.ts';
import { topicNames, topicText } from './help/topics.ts';

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

async function program(): Promise<Command> {
  const made = new Command('watchkeeper');
  await addCommands(made, undefined);
  return made;
}

function helpOf(command: Command): string {
  let help = '';
  const writeOut = (text: string) => {
    help += text;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 80 }).outputHelp();
  return help;
}

/** `spawn-track add`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent == null ? command.name() : `${nameOf(parent)} ${command.name()}`;
}

it('the help of every command keeps to 80 columns', async () => {
  const long = all(await program()).flatMap((command) =>
    helpOf(command)
      .split('\n')
      .filter((line) => line.length > 80),
  );
  expect(long).toEqual([]);
});

it('the commands stand by what one wants to do, the ten of a normal day first', async () => {
  const help = helpOf(await program());
  const titles = help.split('\n').filter((line) => /^[A-Z].*:$/.test(line));
  expect(titles).toEqual([
    'Options:',
    'On a normal day:',
    'Look closer:',
    'Say what may be done, and do it:',
    'Set up, and when something seems wrong:',
    'Runs and rows on record:',
  ]);
  const daily = help.slice(help.indexOf('On a normal day:'), help.indexOf('Look closer:'));
  const names = daily.split('\n').flatMap((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? []);
  expect(names).toEqual(['up', 'status', 'inbox', 'ack', 'why', 'prompt', 'handoff', 'pause', 'unpause', 'down']);
});

describe('examples', () => {
  it('every command has two or three, and nothing else has any', async () => {
    const names = all(await program())
      .slice(1)
      .map(nameOf);
    expect(Object.keys(examples).toSorted()).toEqual(names.toSorted());
    for (const [name, some] of Object.entries(examples)) {
      expect(some.length, name).toBeGreaterThanOrEqual(2);
      expect(some.length, name).toBeLessThanOrEqual(3);
    }
  });

  it('each is what the command takes: its name, its options, its words', async () => {
    for (const command of all(await program()).slice(1)) {
      const name = nameOf(command);
      expect(helpOf(command)).toContain(`watchkeeper ${examples[name]?.[0]?.[0]}`);
      for (const [line] of examples[name] ?? []) {
        expect(line.startsWith(name), line).toBe(true);
        const own = await program();
        for (const each of all(own)) {
          each.exitOverride();
          each.configureOutput({ writeErr: () => {} });
          each.action(() => {});
        }
        // As the shell gives it, without what is the shell's.
        const [typed = ''] = line.split(/ (?:&&|[<>]) /);
        const args = [...typed.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
        await expect(own.parseAsync(args, { from: 'user' }), line).resolves.toBeDefined();
      }
    }
  });
});

describe('topics', () => {
  it.each(topicNames)('%s fits in a screen of 80 columns', (name) => {
    const lines = (topicText(name, 80) ?? '').split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(50);
  });

  it('what is no topic has none', () => {
    expect([topicText('toString'), topicText('nonsense')]).toEqual([null, null]);
  });

  it('on 40 columns no word of it is lost', () => {
    for (const name of topicNames) {
      const words = (room: number) => (topicText(name, room) ?? '').split(/\s+/).join(' ');
      expect(words(40)).toBe(words(300));
    }
  });
});
