import { text as readAll } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PromptResult } from '../../../actions/actions.ts';
import { type PromptWords, templateNames } from '../../../daemon/acting.ts';
import { askDaemon } from '../daemon.ts';
import { seconds } from '../options.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, printJson, wrapped } from '../output.ts';
import { refusalText } from '../refusal.ts';

interface PromptOptions {
  template?: (typeof templateNames)[number];
  set: Record<string, string>;
  wait: number;
  anyway?: boolean;
  json?: boolean;
}

/** A delivery takes up to ten seconds by itself, with its proof. */
const deliveryMs = 20_000;

const exitCodes: Record<PromptResult['outcome'], number> = {
  confirmed: exit.ok,
  queued: exit.ok,
  refused: exit.no,
  uncertain: exit.uncertain,
  deferred: exit.timeout,
};

export function addPrompt(program: Command): void {
  program
    .command('prompt')
    .summary('say something to an agent, with proof that it arrived')
    .description(
      "Types TEXT into the agent's own input box and waits for the client's record of it. A busy agent queues it. It is " +
        'refused where it could do harm: in a dialog, in a shell, while somebody types, over a text that cannot be put ' +
        'aside, to an agent that may only be observed.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .argument('[text]', 'what to say; - reads it from standard input')
    .addOption(new Option('--template <name>', 'send one of the texts of the rules instead').choices(templateNames))
    .addOption(
      new Option('--set <slot=value>', 'fill a slot of the template (may be repeated)')
        .argParser(slot)
        .default({}, 'none'),
    )
    .option('--wait <seconds>', 'wait for a moment that fits, and then for the answer', seconds, 0)
    .option('--anyway', 'also to an agent whose context is nearly full; its client may compact before it reads this')
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExit codes: 0 confirmed, queued, 1 refused, 6 not yet after --wait, 7 uncertain.')
    .action(async (agent: string, text: string | undefined, options: PromptOptions) => {
      const said = await words(text, options);
      const waitMs = options.wait * 1000;
      const result = await askDaemon(
        'prompt',
        { agent, said, waitMs, anyway: options.anyway === true },
        waitMs * 2 + deliveryMs,
      );
      if (options.json) printJson(result);
      else print(await promptText(result));
      process.exitCode = exitCodes[result.outcome];
    });
}

async function words(text: string | undefined, options: PromptOptions): Promise<PromptWords> {
  if (options.template !== undefined) return { template: options.template, slots: options.set };
  if (text === undefined) throw new CommandFailure(exit.usage, 'nothing to say', 'give a text, - or --template');
  return text === '-' ? (await readAll(process.stdin)).replace(/\n$/, '') : text;
}

function slot(text: string, all: Record<string, string>): Record<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('a slot and its value, such as minutes=5');
  return { ...all, [text.slice(0, equals)]: text.slice(equals + 1) };
}

async function promptText(result: PromptResult): Promise<string> {
  const proof = result.proof_ms === null ? '' : ` after ${result.proof_ms} ms, by the client's ${result.proof}`;
  const why = result.reason === null ? '' : `: ${await refusalText(result.reason, result.agent, 'nudge')}`;
  const [said = '', ...commands] = why.split('\n');
  const answer = result.answer === null ? '' : `\n${result.answer.text}`;
  return [wrapped(`${result.outcome}${said}${proof} [${result.tag}]`), ...commands].join('\n') + answer;
}
