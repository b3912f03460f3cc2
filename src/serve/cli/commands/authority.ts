import { Argument, type Command } from 'commander';
import type { Authority } from '../../../model/agent.ts';
import { askDaemon, askStatus, needAgent } from '../daemon.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { say } from '../output.ts';

export function addAuthority(program: Command): void {
  program
    .command('authority')
    .summary('how far Watchkeeper may go with an agent')
    .description(
      'observe: look and tell. nudge: also prompt. manage: also hand off, interrupt and resume. ' +
        'It counts more than the rules in the configuration. An agent outside tmux is only ever observed.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .addArgument(new Argument('<level>').choices(['observe', 'nudge', 'manage']))
    .action(async (name: string, level: Authority) => {
      const agent = needAgent(await askStatus(), name);
      if (agent.tmux === null && level !== 'observe') {
        throw new CommandFailure(exit.no, `${name} runs outside tmux`, 'such an agent can only be observed');
      }
      const { ok } = await askDaemon<{ ok: boolean }>({ ask: 'authority', agent: name, authority: level });
      if (!ok)
        throw new CommandFailure(exit.noDatabase, 'it holds now, but could not be stored', 'see `watchkeeper doctor`');
      say(`${name}: ${level}`);
    });
}
