import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addCommands } from './commands.ts';

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

it('the help of every command keeps to 80 columns', async () => {
  const program = new Command('watchkeeper');
  await addCommands(program, undefined);
  const long = all(program).flatMap((command) => {
    let help = '';
    const writeOut = (text: string) => {
      help += text;
    };
    command.configureOutput({ writeOut, getOutHelpWidth: () => 80 }).outputHelp();
    return help.split('\n').filter((line) => line.length > 80);
  });
  expect(long).toEqual([]);
});
