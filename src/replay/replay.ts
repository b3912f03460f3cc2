import { trendChecks, valuesOf } from '../detect/checks.ts';
import { loopLimits } from '../detect/loops/check.ts';
import { type JudgeLimits, type RunFinding, RunJudge, type RunNote } from '../detect/loops/judge.ts';
import { type RunState, stateAfter } from '../detect/loops/run-state.ts';
import { ok, type Result } from '../model/result.ts';
import type { RunEvent } from '../model/run-event.ts';
import { shown } from '../model/text.ts';
import { type CompletionRule, everyonesCompletion } from '../watch/check-limits.ts';
import { type ReadProblem, type RunCounts, readRun } from './read-run.ts';
import { SteadyTimes } from './steady-times.ts';

const confidences = new Map<string, number>(trendChecks.map(({ name, confidence }) => [name, confidence]));

/** What of a configuration the judging of a record is about; what it leaves out is as by default. */
export interface JudgedBy {
  stall?: object;
  waiting?: object;
  judging?: object & { completion?: readonly CompletionRule[] };
}

export function judgeLimits(config: JudgedBy): JudgeLimits {
  const values = valuesOf(config);
  return { loop: loopLimits, values, completion: everyonesCompletion(config.judging?.completion ?? [], values) };
}

export type ReplayLine =
  | { v: 1; index: number; at: string | null; state: string; detail: string | null }
  | { v: 1; index: number; at: string | null; finding: ReplayFinding; event: 'open' | 'close' }
  | { v: 1; summary: ReplaySummary };

interface ReplayFinding {
  id: string;
  check: string;
  severity: 'warning';
  confidence: number;
  since: string | null;
  from_index: number;
  evidence: { source: 'transcript'; at: string | null; text: string }[];
  action: null;
}

export interface ReplaySummary {
  file: string;
  format: string;
  lines: number;
  events: number;
  steps: number;
  malformed: number;
  unstructured: number;
  oversized: number;
  set_aside: Record<string, number>;
  findings: Record<string, number>;
  open_turn_s: number;
}

export interface ReplayOptions {
  limits: JudgeLimits;
  /** What was before is judged, as it leads up to what comes, but neither told nor counted; null: everything. */
  sinceMs: number | null;
  /** The time of the replay: nothing recorded is later. */
  nowMs: number;
}

/** One recorded run through the checks, told line by line as it goes. */
export async function replayFile(
  { file, name }: { file: string; name: string },
  { limits, sinceMs, nowMs }: ReplayOptions,
  tell: (line: ReplayLine) => void,
  read: (bytes: number) => void = () => {},
): Promise<Result<ReplaySummary, ReadProblem>> {
  const found: Record<string, number> = {};
  const told = new Set<RunFinding>();
  const fromMs = sinceMs ?? Number.NEGATIVE_INFINITY;
  /** What was counted before; null: nothing came since. */
  let before = sinceMs === null ? nothingYet : null;
  const judge = new RunJudge(limits, ({ event, finding }: RunNote) => {
    if (event === 'open' ? before === null || finding.atMs < fromMs : !told.delete(finding)) return;
    if (event === 'open') {
      told.add(finding);
      found[finding.check] = (found[finding.check] ?? 0) + 1;
    }
    const closed = event === 'close';
    const at = time(closed ? (finding.untilMs ?? Number.NaN) : finding.atMs);
    const index = closed ? (finding.until ?? finding.index) : finding.index;
    tell({ v: 1, index, at, finding: findingDocument(name, finding), event });
  });
  let state: RunState | null = null;
  const take = (event: RunEvent) => {
    judge.take(event);
    const next = event.side ? null : stateAfter(event.fact);
    if (next === null || (next.state === state?.state && next.detail === state.detail)) return;
    state = next;
    if (before !== null) tell({ v: 1, index: event.index, at: time(event.atMs), ...next });
  };
  const times = new SteadyTimes(nowMs, (event, counts) => {
    if (before === null && event.atMs >= fromMs) {
      before = countsBefore(counts, judge);
      const openMs = judge.openMs;
      take(event);
      // Of a turn that was open then, only the rest.
      before.openMs += Math.max(0, judge.openMs - openMs - (event.atMs - fromMs));
    } else take(event);
  });
  const done = await readRun(
    file,
    (event, counts) => times.take(event, counts),
    read,
    () => times.end(),
  );
  if (!done.ok) return done;
  judge.end(nowMs);
  const { format, counts } = done.value;
  const past = before ?? { counts, steps: judge.steps, setAside: judge.counts, openMs: judge.openMs };
  const summary: ReplaySummary = {
    file: name,
    format,
    lines: counts.lines - past.counts.lines,
    events: counts.events - past.counts.events,
    malformed: counts.malformed - past.counts.malformed,
    unstructured: counts.unstructured - past.counts.unstructured,
    oversized: counts.oversized,
    steps: judge.steps - past.steps,
    set_aside: Object.fromEntries(
      [...judge.counts]
        .map(([what, count]) => [what, count - (past.setAside.get(what) ?? 0)] as const)
        .filter(([, count]) => count > 0),
    ),
    findings: found,
    open_turn_s: Math.round((judge.openMs - past.openMs) / 1000),
  };
  tell({ v: 1, summary });
  return ok(summary);
}

interface Before {
  counts: RunCounts;
  steps: number;
  setAside: ReadonlyMap<string, number>;
  openMs: number;
}

const nothingYet: Before = {
  counts: { lines: 0, events: 0, malformed: 0, unstructured: 0, oversized: 0 },
  steps: 0,
  setAside: new Map(),
  openMs: 0,
};

/** Without the event that is being taken and its line. */
function countsBefore(counts: Readonly<RunCounts>, judge: RunJudge): Before {
  return {
    counts: { ...counts, lines: counts.lines - 1, events: counts.events - 1 },
    steps: judge.steps,
    setAside: new Map(judge.counts),
    openMs: judge.openMs,
  };
}

function findingDocument(name: string, finding: RunFinding): ReplayFinding {
  const since = time(finding.sinceMs);
  return {
    id: `${name}:${finding.check}:${finding.from}`,
    check: finding.check,
    severity: 'warning',
    confidence: confidences.get(finding.check) ?? 0.8,
    since,
    from_index: finding.from,
    evidence: [{ source: 'transcript', at: since, text: shown(finding.text, 300) }],
    action: null,
  };
}

/** What was last written out, kept since the next time is nearly always of the same day; nothing else follows from it. */
let day = Number.NaN;
let dayText = '';

/** As `toISOString`, which takes the calendar apart anew for every record. */
function time(ms: number): string | null {
  if (!Number.isFinite(ms)) return null;
  const whole = Math.trunc(ms);
  const own = Math.floor(whole / dayMs);
  if (own !== day) {
    day = own;
    dayText = new Date(whole).toISOString().slice(0, -13);
  }
  const inDay = whole - own * dayMs;
  const hours = two(Math.floor(inDay / 3_600_000));
  const minutes = two(Math.floor(inDay / 60_000) % 60);
  const seconds = two(Math.floor(inDay / 1000) % 60);
  const milli = inDay % 1000;
  return `${dayText}${hours}:${minutes}:${seconds}.${milli < 100 ? '0' : ''}${milli < 10 ? '0' : ''}${milli}Z`;
}

const dayMs = 86_400_000;

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}
