import type { Result } from '../model/result.ts';
import type { PartOptions, ReplayJob, ReplayPart } from './part.ts';
import type { ReadProblem } from './read-run.ts';
import type { ReplaySummary } from './replay.ts';
import { replayJobs } from './threads.ts';

/** Of all records together. */
export interface ReplayTotals extends Omit<ReplaySummary, 'file' | 'format'> {
  files: number;
  /** Found in a folder, and no record of a run. */
  unreadable: number;
}

/** Puts records through the checks and adds up what came of it; the first named one that cannot be read ends it. */
export async function replayAll(
  jobs: readonly ReplayJob[],
  options: PartOptions,
  tell: (job: ReplayJob, part: ReplayPart) => void,
): Promise<Result<ReplayTotals, ReadProblem>> {
  const totals: ReplayTotals = {
    files: 0,
    unreadable: 0,
    lines: 0,
    events: 0,
    steps: 0,
    malformed: 0,
    unstructured: 0,
    oversized: 0,
    set_aside: {},
    findings: {},
    open_turn_s: 0,
  };
  let failure: Result<never, ReadProblem> | null = null;
  await replayJobs(jobs, options, {
    part: tell,
    done: (job, result) => {
      if (result.ok) addTo(totals, result.value);
      else if (job.named) failure = result;
      else totals.unreadable += 1;
      return failure === null;
    },
  });
  return failure ?? { ok: true, value: totals };
}

const counts = ['lines', 'events', 'steps', 'malformed', 'unstructured', 'oversized', 'open_turn_s'] as const;

function addTo(totals: ReplayTotals, summary: ReplaySummary): void {
  totals.files += 1;
  for (const name of counts) totals[name] += summary[name];
  for (const name of ['set_aside', 'findings'] as const) {
    for (const [what, count] of Object.entries(summary[name])) {
      totals[name][what] = (totals[name][what] ?? 0) + count;
    }
  }
}
