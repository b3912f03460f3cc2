import type { Command } from 'commander';
import type { RequestDocument } from '../../../daemon/requests/table.ts';
import { counted } from '../../../model/count.ts';
import { shown } from '../../../model/text.ts';
import { askDaemon } from '../daemon.ts';
import { holdText } from '../hold-text.ts';
import { print, printJson, when, withOwnTimes, wrapped } from '../output.ts';

type WhyDocument = RequestDocument<'why'>;
type Found = NonNullable<WhyDocument['found']>[number];
type Done = NonNullable<WhyDocument['done']>[number];

/** The database is asked as well. */
const answerMs = 15_000;
/** Words of others are only hinted at. */
const textChars = 60;

export function addWhy(program: Command): void {
  program
    .command('why')
    .summary('why an agent is seen and treated as it is')
    .description(
      'Its state and the evidence, which checks fired, which did not and why, what happens next, and what was found and ' +
        'done lately, with outcome and proof.',
    )
    .argument('<agent>', 'its name, as `status` shows it')
    .option('--json', 'one JSON document')
    .action(async (name: string, options: { json?: boolean }) => {
      const why = await askDaemon('why', { agent: name }, answerMs);
      if (options.json) printJson(why);
      else print(whyText(why));
    });
}

function whyText(why: WhyDocument): string {
  const held = holdText(why.hold);
  const next =
    why.next.length === 0
      ? ['nothing needs to be done']
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
    ...(why.found === null ? [] : section('found lately', why.found.map(foundText))),
    ...(why.done === null
      ? ['the database does not answer, so what was found and done lately is missing here']
      : section('done lately', why.done.map(doneText))),
  ].join('\n');
}

function foundText({ check, subject, since, until, ending, prompts, told }: Found): string {
  const what = subject === null ? check : `${check} ${shown(subject, textChars)}`;
  const over = until === null ? 'open' : `over ${when(until)}${ending === null ? '' : `, ${ending}`}`;
  return `${when(since)} ${what}: ${over}; prompted ${counted(prompts, 'time')}, told ${counted(told, 'time')}`;
}

function doneText({ at, kind, trigger, by, outcome, reason, proof, intent }: Done): string {
  const text = String(intent.text ?? intent.command ?? intent.authority ?? '');
  const who = by === null || by === 'rule' ? trigger : by;
  const why = reason === null ? '' : `: ${reason}`;
  const proved = typeof proof?.proof_ms === 'number' ? `, proved after ${proof.proof_ms} ms` : '';
  const source = typeof proof?.source === 'string' ? ` by ${proof.source}` : '';
  return `${when(at)} ${kind} by ${who}: ${outcome ?? 'open'}${why}${proved}${source}${text === '' ? '' : `: ${shown(text, textChars)}`}`;
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
