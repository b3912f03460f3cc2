import { defaultConfig } from '../config/schema.ts';
import { loopChecks, trendChecks } from '../detect/checks.ts';
import { ok, type Result } from '../model/result.ts';
import { fHalf, median, ratio, round, wilson } from '../model/statistics.ts';
import { shown } from '../model/text.ts';
import { judgeLimits } from '../replay/replay.ts';
import { baselineAlarms, baselines } from './baselines.ts';
import { type Label, type LabelledRun, labelNames, readLabelledRuns } from './labelled-runs.ts';
import {
  type Alarm,
  addScore,
  covers,
  emptyScore,
  type Family,
  families,
  familyChecks,
  familyNames,
  type Judged,
  judgeRun,
  type RunsScore,
} from './score.ts';
import { type TrendFigures, trendFigures } from './trends.ts';

export interface Figures {
  tp: number;
  fp: number;
  fn: number;
  precision: number | null;
  recall: number | null;
  f05: number | null;
  ci: { precision: [number, number] | null; recall: [number, number] | null };
  /** Alarms where nobody looked; not in `fp`. */
  unjudged: number;
}

interface LabelFigures extends Figures {
  n: number;
  median_delay_records: number | null;
  median_delay_s: number | null;
  random: { n: number; tp: number };
  targeted: { n: number; tp: number };
}

interface Missed {
  id: string;
  label: string;
  reason: string;
}

interface WrongAlarm {
  run: string;
  index: number;
  check: string;
}

export interface EvalDocument {
  v: 1;
  runs: number;
  labels: number;
  /** Lines of `labels.jsonl` and runs that are in none of the figures, and the first of them by name. */
  unreadable: number;
  unread: string[];
  overall: Figures;
  by_family: Record<Family, Figures>;
  by_label: Record<string, LabelFigures>;
  samples: Record<'random' | 'targeted', Record<Family, { n: number; tp: number; recall: number | null }>>;
  baselines: Record<string, Figures>;
  false_alarms_per_hour: number | null;
  open_turn_hours: number;
  hard_negatives: { n: number; passed: number; failed: string[] };
  missed: Missed[];
  wrong: WrongAlarm[];
  unjudged: WrongAlarm[];
  not_judged: { unstructured: number; labels: string[] };
  trends: TrendFigures[];
  checks: { name: string; evidence: string; why: string }[];
  labels_to_checks: Record<string, readonly string[]>;
}

const unreadMax = 20;

/** Everything the checks say about labelled runs, beside what simpler rules say. */
export async function evaluate(
  folder: string,
  progress: (text: string) => void,
): Promise<Result<EvalDocument, 'not-found' | 'no-labels' | 'no-runs'>> {
  const read = await readLabelledRuns(folder, (done, all) => progress(`read ${done} of ${all} runs`));
  if (!read.ok) return read;
  const runs = read.value.runs.filter(({ unstructured }) => !unstructured);
  const limits = judgeLimits(defaultConfig());
  const judged = runs.map((run) => judgeRun(run, limits));
  const scores = Object.fromEntries(familyNames.map((family) => [family, scoreOf(judged, family)])) as Scores;
  const hours = judged.reduce((total, { openMs }) => total + openMs, 0) / 3_600_000;
  const timedWrong = familyNames
    .flatMap((family) => scores[family].wrong)
    .filter(({ alarm }) => Number.isFinite(alarm.atMs));
  const left = read.value.runs.filter(({ unstructured }) => unstructured);
  return ok({
    v: 1,
    runs: read.value.runs.length,
    labels: read.value.runs.reduce((total, { labels }) => total + labels.length, 0),
    unreadable: read.value.unread.length,
    unread: read.value.unread.slice(0, unreadMax),
    overall: figures(all(scores)),
    by_family: Object.fromEntries(
      familyNames.map((family) => [family, figures(scores[family])]),
    ) as EvalDocument['by_family'],
    by_label: byLabel(scores, runs),
    samples: { random: sampleFigures(scores, 'random'), targeted: sampleFigures(scores, 'targeted') },
    baselines: Object.fromEntries(Object.entries(baselines).map(([name, rule]) => [name, baselineFigures(runs, rule)])),
    false_alarms_per_hour: hours === 0 ? null : round(timedWrong.length / hours),
    open_turn_hours: round(hours),
    hard_negatives: hardNegatives(judged),
    missed: familyNames.flatMap((family) => scores[family].misses.map(missedLabel)),
    wrong: familyNames.flatMap((family) => scores[family].wrong.map(wrongAlarm)),
    unjudged: familyNames.flatMap((family) => scores[family].unjudged.map(wrongAlarm)),
    not_judged: {
      unstructured: left.length,
      labels: left.flatMap(({ labels }) => labels.map(({ id, label }) => shown(`${id} ${label}`, 200))),
    },
    trends: trendFigures(judged),
    checks: [...loopChecks, ...trendChecks].map(({ name, evidence, why }) => ({ name, evidence, why })),
    labels_to_checks: Object.fromEntries(
      familyNames.flatMap((family) => families[family].map((label) => [label, familyChecks[family]])),
    ),
  });
}

type Scores = Record<Family, RunsScore>;

function scoreOf(judged: Judged[], family: Family): RunsScore {
  const score = emptyScore();
  for (const { run, alarms } of judged) addScore(score, run, alarms[family], family);
  return score;
}

function all(scores: Scores): RunsScore {
  const list = familyNames.map((family) => scores[family]);
  return {
    hits: list.flatMap(({ hits }) => hits),
    misses: list.flatMap(({ misses }) => misses),
    wrong: list.flatMap(({ wrong }) => wrong),
    unjudged: list.flatMap(({ unjudged }) => unjudged),
  };
}

export function figures(score: RunsScore): Figures {
  const [tp, fp, fn] = [score.hits.length, score.wrong.length, score.misses.length];
  return {
    tp,
    fp,
    fn,
    precision: ratio(tp, tp + fp),
    recall: ratio(tp, tp + fn),
    f05: fHalf(tp, fp, fn),
    ci: { precision: wilson(tp, tp + fp), recall: wilson(tp, tp + fn) },
    unjudged: score.unjudged.length,
  };
}

/** A wrong alarm belongs to the label that the check which raised it is named for. */
const ownLabel: Record<string, string> = {
  looping: 'looping',
  'edit-revert': 'looping',
  'repeated-error': 'error-spiral',
  'no-progress': 'no-progress',
  'stalled-turn': 'stalled',
};

function byLabel(scores: Scores, runs: LabelledRun[]): Record<string, LabelFigures> {
  const times = new Map(runs.map((run) => [run.file, timesOf(run)]));
  const entries = labelNames
    .filter((name) => familyNames.some((family) => (families[family] as readonly string[]).includes(name)))
    .map((name): [string, LabelFigures] => {
      const whole = all(scores);
      const own = ({ alarm }: { alarm: Alarm }) => (ownLabel[alarm.check] ?? alarm.check) === name;
      const score: RunsScore = {
        hits: whole.hits.filter(({ label }) => label.label === name),
        misses: whole.misses.filter(({ label }) => label === name),
        wrong: whole.wrong.filter(own),
        unjudged: whole.unjudged.filter(own),
      };
      const sample = (which: Label['sample']) => ({
        n: [...score.hits.map(({ label }) => label), ...score.misses].filter((label) => label.sample === which).length,
        tp: score.hits.filter(({ label }) => label.sample === which).length,
      });
      return [
        name,
        {
          n: score.hits.length + score.misses.length,
          ...figures(score),
          median_delay_records: median(score.hits.map(({ label, alarm }) => alarm.index - (label.onset_index ?? 0))),
          median_delay_s: delaySeconds(score, times),
          random: sample('random'),
          targeted: sample('targeted'),
        },
      ];
    });
  return Object.fromEntries(entries);
}

function timesOf(run: LabelledRun): Map<number, number> {
  const times = new Map<number, number>();
  for (const { index, atMs } of run.events) if (!times.has(index) && Number.isFinite(atMs)) times.set(index, atMs);
  return times;
}

function delaySeconds(score: RunsScore, times: Map<string, Map<number, number>>): number | null {
  const delays = score.hits.map(({ label, alarm }) => {
    const onsetMs = times.get(label.events)?.get(label.onset_index ?? 0) ?? Number.NaN;
    return (alarm.atMs - onsetMs) / 1000;
  });
  const middle = median(delays);
  return middle === null ? null : Math.round(middle);
}

function sampleFigures(scores: Scores, which: Label['sample']): EvalDocument['samples']['random'] {
  const entries = familyNames.map((family) => {
    const tp = scores[family].hits.filter(({ label }) => label.sample === which).length;
    const n = tp + scores[family].misses.filter(({ sample }) => sample === which).length;
    return [family, { n, tp, recall: ratio(tp, n) }];
  });
  return Object.fromEntries(entries) as EvalDocument['samples']['random'];
}

/** @public bench/thresholds.mjs has it from the build. */
export function baselineFigures(runs: LabelledRun[], rule: (typeof baselines)[string]): Figures {
  const score = emptyScore();
  for (const run of runs) addScore(score, run, baselineAlarms(run, rule), 'loop');
  return figures(score);
}

/** A healthy run that looks bad passes when nothing at all is said about it. */
function hardNegatives(judged: Judged[]): EvalDocument['hard_negatives'] {
  const labels = judged.flatMap(({ run, alarms }) =>
    run.labels
      .filter(({ hard_negative }) => hard_negative)
      .map((label) => ({
        label,
        alarms: [...alarms.loop, ...alarms.silence].filter(
          (alarm) =>
            covers(label, alarm) && !run.labels.some((other) => other.label !== 'healthy' && covers(other, alarm)),
        ),
      })),
  );
  const failed = labels.filter(({ alarms }) => alarms.length > 0);
  return {
    n: labels.length,
    passed: labels.length - failed.length,
    failed: failed.map(({ label, alarms }) =>
      shown(`${label.id}: ${alarms.map(({ check }) => check).join(', ')}`, 200),
    ),
  };
}

function missedLabel({ id, label, reason }: Label): Missed {
  return { id: shown(id, 100), label, reason: shown(reason, 300) };
}

function wrongAlarm({ run, alarm }: { run: LabelledRun; alarm: Alarm }): WrongAlarm {
  return { run: shown(run.file, 200), index: alarm.index, check: alarm.check };
}
