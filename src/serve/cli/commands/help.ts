import { Command } from 'commander';
import { addCommands } from '../commands.ts';
import { topicNames, topicText, topicTitles } from '../help/topics.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print } from '../output.ts';

export function addHelp(program: Command): void {
  program
    .command('help')
    .summary('a topic in a screen, or the help of a command')
    .description('Explains one topic, or a command as its --help does.')
    .argument('[topic...]', 'one of those below, or the words of a command')
    .addHelpText('after', () => `\nTopics:\n${topicTitles()}`)
    .action(async (words: string[], _options: object, help: Command) => {
      const text = topicText(words.join('-'));
      if (text !== null) print(text);
      else (words.length === 0 ? help : await commandCalled(words)).outputHelp();
    });
}

async function commandCalled(words: string[]): Promise<Command> {
  const all = new Command('watchkeeper');
  await addCommands(all, words[0]);
  let found = all;
  for (const word of words) {
    const next = found.commands.find((command) => command.name() === word);
    if (next === undefined)
      throw new CommandFailure(
        exit.usage,
        `neither a topic nor a command: \`${words.join(' ')}\``,
        `topics: ${topicNames.join(', ')}; commands: \`watchkeeper --help\``,
      );
    found = next;
  }
  return found;
}
