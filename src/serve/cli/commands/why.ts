import type { Command } from 'commander';
import { shown } from '../../../model/text.ts';
import type { WhyDocument } from '../../../run/acting.ts';
import { askDaemon, askStatus, needAgent } from '../daemon.ts';
import { print, printJson, wrapped } from '../output.ts';

export function addWhy(program: Command): void {
  program
    .command('why')
    .summary('why an agent is seen and treated as it is')
    .description('Its state and the evidence, which checks fired, which did not and why, and what happens next.')
    .argument('<agent>', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action(async (name: string, options: { json?: boolean }) => {
      needAgent(await askStatus(), name);
      const why = await askDaemon<WhyDocument>({ ask: 'why', agent: name });
      if (options.json) printJson({ v: 1, ...why });
      else print(whyText(why));
    });
}

function whyText(why: WhyDocument): string {
  const next =
    why.next.length === 0
      ? ['nothing has to be done']
      : why.next.map(({ at, what }) => (at === null ? what : `${what}, until ${at}`));
  return [
    wrapped(`${why.agent} is ${why.state}; Watchkeeper may ${why.authority}`),
    ...section(
      'because',
      why.evidence.map(({ source, at, text }) => `${text} (${source}, ${at})`),
    ),
    ...section(
      'fired',
      why.fired.map(
        ({ check, subject, since, prompts, told }) =>
          `${subject === null ? check : `${check} ${shown(subject, 60)}`} since ${since}: prompted ${prompts}, told ${told}`,
      ),
    ),
    ...section(
      'not fired',
      why.not_fired.map(({ check, reason }) => `${check}: ${reason}`),
    ),
    ...section('next', next),
  ].join('\n');
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((text) => wrapped(text, '  '))];
}
