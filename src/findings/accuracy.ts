import { mostDone } from '../decide/policy.ts';
import { groundOf, mayBeActedOn, rightWhen, verdictOn } from '../decide/worth.ts';
import type { Ground } from '../detect/check.ts';
import { checkNames, definitionOf } from '../detect/checks.ts';
import { ownHost } from '../home/host-id.ts';
import type { CheckName } from '../model/check.ts';
import { ok, type Result } from '../model/result.ts';
import type { Ending, Verdict } from '../model/score.ts';
import { ratio, wilson } from '../model/statistics.ts';
import { type QueryFailure, queryScores } from '../record/queries.ts';
import type { CheckTally } from '../record/scores.ts';

export type AccuracyDocument = ReturnType<typeof accuracyDocument>;

/** Each check's own record on this machine. */
export async function accuracy(url: string, sinceMs: number): Promise<Result<AccuracyDocument, QueryFailure>> {
  const read = await queryScores(url, ownHost(), sinceMs);
  return read.ok ? ok(accuracyDocument(read.value.tallies, read.value.medianOpenMs, sinceMs)) : read;
}

export function accuracyDocument(
  tallies: readonly CheckTally[],
  medianOpenMs: ReadonlyMap<CheckName, number>,
  sinceMs: number,
) {
  const known = checkNames.filter((check) => tallies.some((tally) => tally.check === check));
  return {
    v: 1 as const,
    since: new Date(sinceMs).toISOString(),
    items: known.map((check) => {
      const mine = tallies.filter((tally) => tally.check === check);
      const of = (verdict: Verdict) =>
        sum(mine.filter(({ ending }) => ending !== null && verdictOn(check, ending) === verdict));
      const [right, wrong] = [of('right'), of('wrong')];
      const endings: Partial<Record<Ending, number>> = {};
      for (const { ending, count } of mine) if (ending !== null) endings[ending] = count;
      const open = medianOpenMs.get(check);
      return {
        check,
        raised: sum(mine),
        right,
        wrong,
        unclear: of('unclear'),
        open: sum(mine.filter(({ ending }) => ending === null)),
        /** Of those that can be told right from wrong. */
        n: right + wrong,
        precision: ratio(right, right + wrong),
        ci: wilson(right, right + wrong),
        median_open_s: open === undefined ? null : Math.round(open / 100) / 10,
        endings,
        does: mostDone(check),
        right_when: rightWhen(check),
      };
    }),
  };
}

/** For each check what is done about it, and on what ground. */
export function groundItems() {
  return checkNames.map((check) => ({
    check,
    title: definitionOf(check).title,
    evidence: definitionOf(check).evidence,
    thresholds: Object.keys(definitionOf(check).thresholds),
    does: mostDone(check),
    acts: mayBeActedOn(check),
    ground: groundText(groundOf(check)),
    right_when: rightWhen(check),
  }));
}

function groundText(ground: Ground): string {
  if (ground.by === 'record') return `record: ${ground.why}`;
  const { measured } = ground;
  const figures =
    measured === null
      ? 'not measured'
      : `${measured.right} of ${measured.alarms} right, ${measured.precision.toFixed(2)} (${measured.interval.map((bound) => bound.toFixed(2)).join('–')})`;
  return ground.by === 'measured' ? `measured: ${figures}` : `none yet: ${ground.why}; ${figures}`;
}

/** As docs/checks.md. */
export function groundsMarkdown(): string {
  const rows = groundItems().map(
    ({ check, title, evidence, thresholds, does, ground, right_when: right }) =>
      `| \`${check}\` | ${title} | ${evidence} | ${thresholds.map((key) => `\`${key}\``).join(', ') || '-'} | ${does} | ${ground} | ${right} |`,
  );
  return [
    '# What the checks rest on',
    '',
    'Written by `watchkeeper accuracy --grounds --markdown`. A check is acted on only where it is known to be right: either its evidence is',
    'itself the proof, or its precision is at least 0.9 on runs it was not made with. All others are shown and recorded, and nothing is',
    'done because of them. The figures are those of [reports/eval-thresholds.md](reports/eval-thresholds.md), with 95 % Wilson intervals.',
    '',
    'The last column says how `watchkeeper accuracy` judges afterwards whether a finding was right. Any other end is unclear and counts',
    'as neither; what a person denies with `ack ID --wrong` is wrong.',
    '',
    '| check | an agent or host | evidence | thresholds | at most | ground | it was right when |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function sum(tallies: readonly CheckTally[]): number {
  return tallies.reduce((total, { count }) => total + count, 0);
}
