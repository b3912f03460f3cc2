import type { Command } from 'commander';
import type { WhyDocument } from '../../../daemon/acting.ts';
import { counted } from '../../../model/count.ts';
import { shown } from '../../../model/text.ts';
import { askDaemon, askStatus, needAgent } from '../daemon.ts';
import { holdText } from '../hold-text.ts';
import { print, printJson, when, withOwnTimes, wrapped } from '../output.ts';

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
  const held = holdText(why.hold);
  const next =
    why.next.length === 0
      ? ['nothing has to be done']
      : why.next.map(({ at, what }) => (at === null ? what : `${what}, until ${when(at)}`));
  return [
    wrapped(`${why.agent} is ${why.state}; Watchkeeper may ${why.authority}`),
    ...(held === null ? [] : [wrapped(held)]),
    ...section(
      'because',
      why.evidence.map(({ source, at, text }) => `${withOwnTimes(text)} (${source}, ${when(at)})`),
    ),
    ...section(
      'fired',
      why.fired.map(
        ({ check, subject, since, prompts, told }) =>
          `${subject === null ? check : `${check} ${shown(subject, 60)}`} since ${when(since)}: prompted ${counted(prompts, 'time')}, told ${counted(told, 'time')}`,
      ),
    ),
    ...section('not fired', notFired(why.not_fired)),
    ...section('next', next),
  ].join('\n');
}

/** Most have the same reason: it is said once. */
function notFired(checks: WhyDocument['not_fired']): string[] {
  const reasons = [...new Set(checks.map(({ reason }) => reason))];
  const having = (reason: string) => checks.filter((one) => one.reason === reason).map(({ check }) => check);
  return reasons.map((reason) => `${having(reason).join(', ')}: ${reason}`);
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((text) => wrapped(text, '  '))];
}
