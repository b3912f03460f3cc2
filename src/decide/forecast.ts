/** One figure of a session's context. */
export interface ContextFigure {
  atMs: number;
  used: number;
  window: number;
  usable: number;
  /** What set it off, where the client compacted here. */
  compacted: string | null;
}

/** When a mark will be reached if the work goes on as it does. */
export interface Reach {
  /** The model's steps until then. */
  steps: number;
  atMs: number;
  /** The earliest: the largest step seen comes next, and the rest fast. The latest: slow ones only. */
  lowMs: number;
  highMs: number;
}

export interface Forecast {
  /** The edge of the next band, in percent of the window; null in the highest band. */
  edge: number | null;
  next: Reach | null;
  usableEnd: Reach | null;
  /** Where the client compacts by itself; null: it does not, or later than the end. */
  compaction: Reach | null;
  largestStep: number;
}

const stepsMin = 3;
/** What is said of the near future rests on the last ones. */
const windows = [5, 20, 100];
/** A pause longer than this is somebody's absence, not the work's pace. */
const gapMaxMs = 5 * 60_000;
/** Less than this of the figure before is a new start: compaction, a rewound conversation. */
const dropShare = 0.8;
const spread = 1.5;
/** Further than this nobody can see. */
const farMs = 30 * 86_400_000;

/** What comes of the context if the work goes on; null: too little is known to say anything. */
export function forecastContext(
  figures: readonly ContextFigure[],
  edges: readonly number[],
  nowMs: number,
  compactsAt: number | null = null,
): Forecast | null {
  const clean = figures.filter(isSane).sort((a, b) => a.atMs - b.atMs);
  const last = clean.at(-1);
  if (last === undefined) return null;
  const { steps, gapsMs } = movesOf(clean);
  if (steps.length < stepsMin) return null;
  const growth = rates(steps);
  const pace = rates(gapsMs);
  if (growth.usual <= 0) return null;
  const largestStep = Math.max(...steps);
  const reach = (mark: number): Reach | null => {
    const need = mark - last.used;
    if (need <= 0) return null;
    const usual = Math.max(1, need / growth.usual);
    // One step as large as the largest may be about to end.
    const fewest = Math.max(0, need - largestStep) / growth.high;
    const most = growth.low <= 0 ? Number.POSITIVE_INFINITY : 1 + need / growth.low;
    // While it rests the forecast moves along: it goes on from now at the earliest.
    const sinceMs = Math.max(last.atMs, nowMs - pace.usual);
    const at = (count: number, gapMs: number) => Math.round(Math.max(nowMs, sinceMs + Math.min(count * gapMs, farMs)));
    const atMs = at(usual, pace.usual);
    return {
      steps: Math.ceil(usual),
      atMs,
      lowMs: Math.min(at(Math.min(fewest, usual), pace.low), atMs),
      highMs: Math.max(at(Math.max(most, usual), pace.high), atMs),
    };
  };
  const edge = edges.find((percent) => last.used < (percent / 100) * last.window) ?? null;
  return {
    edge,
    next: edge === null ? null : reach((edge / 100) * last.window),
    usableEnd: reach(last.usable),
    compaction: compactsAt === null || compactsAt >= last.usable ? null : reach(compactsAt),
    largestStep,
  };
}

/** How much each step of the model added to the context. */
export function stepsOf(figures: readonly ContextFigure[]): number[] {
  return movesOf(figures.filter(isSane)).steps;
}

function isSane({ atMs, used, window, usable }: ContextFigure): boolean {
  return [atMs, used, window, usable].every(Number.isFinite) && used >= 0 && window > 0 && usable > 0;
}

/** How much each step added, and how long it took. A drop is no step: the next one counts from there. */
function movesOf(figures: ContextFigure[]): { steps: number[]; gapsMs: number[] } {
  const steps: number[] = [];
  const gapsMs: number[] = [];
  for (const [index, figure] of figures.entries()) {
    const before = figures[index - 1];
    if (before === undefined || figure.compacted !== null || figure.used < before.used * dropShare) continue;
    steps.push(figure.used - before.used);
    gapsMs.push(Math.min(figure.atMs - before.atMs, gapMaxMs));
  }
  return { steps, gapsMs };
}

/** The means of the last few, of some more and of many: the middle one is usual, the others say how far it may be off. */
function rates(values: number[]): { low: number; usual: number; high: number } {
  const means = windows.map((count) => mean(values.slice(-count))).sort((a, b) => a - b);
  const [low = 0, usual = 0, high = 0] = means;
  return { low: low / spread, usual, high: high * spread };
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
