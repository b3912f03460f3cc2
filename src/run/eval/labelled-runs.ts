import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../../model/result.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { readRun } from '../replay/read-run.ts';

export const labelNames = [
  'healthy',
  'looping',
  'error-spiral',
  'no-progress',
  'stalled',
  'waiting-human',
  'rate-limited',
  'api-error',
  'context-exhausted',
  'no-completion',
] as const;
export type LabelName = (typeof labelNames)[number];

const labelSchema = z.object({
  id: z.string().max(200),
  label: z.enum(labelNames),
  events: z.string().max(1_000),
  onset_index: z.number().int().nullable(),
  end_index: z.number().int().nullable(),
  hard_negative: z.boolean(),
  sample: z.enum(['random', 'targeted']),
  format: z.string().max(100),
  reason: z.string().max(4_000).default(''),
});
export type Label = z.output<typeof labelSchema>;

export interface LabelledRun {
  file: string;
  labels: Label[];
  events: RunEvent[];
  /** Only a picture of a terminal: there is nothing the checks could read. */
  unstructured: boolean;
}

export interface LabelledRuns {
  runs: LabelledRun[];
  /** Lines of `labels.jsonl` and runs that could not be read. */
  unreadable: number;
}

type LabelProblem = 'not-found' | 'no-labels';

/** `DIR/labels.jsonl` and the runs it names, each once. */
export async function readLabelledRuns(
  folder: string,
  progress: (done: number, all: number) => void,
): Promise<Result<LabelledRuns, LabelProblem>> {
  let text: string;
  try {
    text = readFileSync(path.join(folder, 'labels.jsonl'), 'utf8');
  } catch {
    return fail('not-found', `${folder} has no labels.jsonl`, 'name a folder of labelled runs');
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const labels = lines.map(labelOf).filter((label) => label !== null);
  if (labels.length === 0) return fail('no-labels', `${folder}/labels.jsonl has no label`, 'see docs/reports/eval.md');
  const files = [...new Set(labels.map(({ events }) => events))];
  const runs: LabelledRun[] = [];
  let unreadable = lines.length - labels.length;
  for (const file of files) {
    const events: RunEvent[] = [];
    const inside = !path.relative(folder, path.resolve(folder, file)).startsWith('..');
    const read = inside ? await readRun(path.resolve(folder, file), (event) => events.push(event)) : null;
    if (read?.ok) {
      const unstructured = read.value.counts.unstructured > 0 && events.length === 0;
      runs.push({ file, labels: labels.filter((label) => label.events === file), events, unstructured });
    } else unreadable += 1;
    progress(runs.length, files.length);
  }
  return ok({ runs, unreadable });
}

function labelOf(line: string): Label | null {
  try {
    const parsed = labelSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
