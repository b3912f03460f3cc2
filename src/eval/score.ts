import { trendChecks } from '../detect/checks.ts';
import { type JudgeLimits, type RunCheckName, type RunFinding, RunJudge } from '../detect/loops/judge.ts';
import type { Label, LabelledRun, LabelName } from './labelled-runs.ts';

export const families = {
  loop: ['looping', 'error-spiral', 'no-progress'],
  silence: ['stalled', 'waiting-human'],
  limits: ['rate-limited'],
  errors: ['api-error'],
  context: ['context-exhausted'],
} as const satisfies Record<string, readonly LabelName[]>;
export type Family = keyof typeof families;
export const familyNames = Object.keys(families) as Family[];

/** Within a family any of its checks answers a label: whether lost work shows as a loop or as errors is a matter of taste. */
export const familyChecks: Record<Family, readonly RunCheckName[]> = {
  loop: ['looping', 'repeated-error', 'no-progress', 'edit-revert'],
  silence: ['stalled-turn', 'waiting-human'],
  limits: ['rate-limited'],
  errors: ['api-error', 'auth-failed'],
  context: ['context-exhausted'],
};

/** Records between the trouble and the word on it that are still the same trouble. */
const slackRecords = 3;

export interface Alarm {
  check: string;
  index: number;
  until: number;
  atMs: number;
}

/** What all checks say about a run; overlapping findings of a family are one alarm. */
export interface Judged {
  run: LabelledRun;
  alarms: Record<Family, Alarm[]>;
  trends: Alarm[];
  openMs: number;
}

export function judgeRun(run: LabelledRun, limits: JudgeLimits): Judged {
  const findings: RunFinding[] = [];
  const judge = new RunJudge(limits, ({ event, finding }) => {
    if (event === 'open') findings.push(finding);
  });
  for (const event of run.events) judge.take(event);
  const of = (checks: readonly string[]) =>
    findings
      .filter(({ check }) => checks.includes(check))
      .map(({ check, index, until, atMs }) => ({ check, index, atMs, until: until ?? Number.POSITIVE_INFINITY }));
  const alarms = Object.fromEntries(
    familyNames.map((family) => [family, merged(of(familyChecks[family]))]),
  ) as Judged['alarms'];
  const trends = of(trendChecks.map(({ name }) => name));
  return { run, alarms, trends, openMs: judge.openMs };
}

export function merged(alarms: Alarm[]): Alarm[] {
  const result: Alarm[] = [];
  for (const alarm of alarms.toSorted((a, b) => a.index - b.index)) {
    const last = result.at(-1);
    if (last !== undefined && alarm.index <= last.until) last.until = Math.max(last.until, alarm.until);
    else result.push({ ...alarm });
  }
  return result;
}

export interface RunsScore {
  hits: { label: Label; alarm: Alarm }[];
  misses: Label[];
  /** Alarms where somebody read the run and found nothing of the kind. */
  wrong: { run: LabelledRun; alarm: Alarm }[];
  /** Alarms in runs that were only read around another trouble. */
  unjudged: { run: LabelledRun; alarm: Alarm }[];
}

export function emptyScore(): RunsScore {
  return { hits: [], misses: [], wrong: [], unjudged: [] };
}

export function addScore(score: RunsScore, run: LabelledRun, alarms: Alarm[], family: Family): void {
  const labels = run.labels.filter(({ label }) => (families[family] as readonly string[]).includes(label));
  const used = new Set<Alarm>();
  for (const label of labels) {
    const met = alarms.filter((alarm) => meets(alarm, label));
    for (const alarm of met) used.add(alarm);
    const [alarm] = met;
    if (alarm === undefined) score.misses.push(label);
    else score.hits.push({ label, alarm });
  }
  for (const alarm of alarms) {
    if (!used.has(alarm)) (isRead(run, alarm) ? score.wrong : score.unjudged).push({ run, alarm });
  }
}

/** Raised within the labelled stretch, or raised before and still standing when it begins. */
function meets(alarm: Alarm, { onset_index, end_index }: Label): boolean {
  const [onset, end] = [onset_index ?? 0, end_index ?? Number.POSITIVE_INFINITY];
  if (alarm.index > end + slackRecords) return false;
  return alarm.index >= onset - slackRecords || alarm.until > onset;
}

/** Drawn at random means read to the end; elsewhere only what a healthy label covers was. */
function isRead(run: LabelledRun, alarm: Alarm): boolean {
  return run.labels.some((label) => label.sample === 'random' || (label.label === 'healthy' && covers(label, alarm)));
}

export function covers({ onset_index, end_index }: Label, { index }: Alarm): boolean {
  return index >= (onset_index ?? 0) && index <= (end_index ?? Number.POSITIVE_INFINITY);
}
