import { Argument, type Command } from 'commander';
import type { Authority } from '../../../model/agent.ts';
import { askDaemon } from '../daemon.ts';
import { say } from '../output.ts';

export function addAuthority(program: Command): void {
  program
    .command('authority')
    .summary('how far Watchkeeper may go with an agent')
    .description(
      'observe: look and tell you. nudge: also prompt. manage: also hand over, compact and interrupt. ' +
        'It counts more than the rules in the configuration. An agent outside tmux is only ever observed.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .addArgument(new Argument('<level>').choices(['observe', 'nudge', 'manage']))
    .action(async (name: string, level: Authority) => {
      const { agent, authority } = await askDaemon('authority', { agent: name, authority: level });
      say(`${agent}: ${authority}`);
    });
}
