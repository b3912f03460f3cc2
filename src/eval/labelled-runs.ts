import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../model/result.ts';
import type { RunEvent } from '../model/run-event.ts';
import { shown } from '../model/text.ts';
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
  /** Lines of `labels.jsonl` and runs that could not be read, each with the reason. */
  unread: string[];
}

type LabelProblem = 'not-found' | 'no-labels' | 'no-runs';

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
  const labels: Label[] = [];
  const unread: string[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const label = labelOf(line);
    if (label.ok) labels.push(label.value);
    else unread.push(`line ${index + 1} of labels.jsonl: ${label.message}`);
  });
  if (labels.length === 0) {
    const why = unread[0] === undefined ? '' : ` (${unread[0]})`;
    return fail('no-labels', `${folder}/labels.jsonl has no label${why}`, 'see `watchkeeper eval --help`');
  }
  const files = [...new Set(labels.map(({ events }) => events))];
  const runs: LabelledRun[] = [];
  for (const file of files) {
    const events: RunEvent[] = [];
    const inside = !path.relative(folder, path.resolve(folder, file)).startsWith('..');
    const read = inside
      ? await readRun(path.resolve(folder, file), (event) => {
          // Asked for now: when it is judged, the file is closed.
          if (event.fact.kind === 'tool-result') void event.fact.sign?.hash;
          events.push(event);
        })
      : fail('not-found', `${file} is outside of ${folder}`);
    if (read.ok) {
      const unstructured = read.value.counts.unstructured > 0 && events.length === 0;
      runs.push({ file, labels: labels.filter((label) => label.events === file), events, unstructured });
    } else unread.push(shown(read.message));
    progress(runs.length, files.length);
  }
  if (runs.length === 0)
    return fail('no-runs', `no run that ${folder}/labels.jsonl names can be read (${unread.at(-1)})`, 'put them there');
  return ok({ runs, unread });
}

function labelOf(line: string): Result<Label, 'no-label'> {
  try {
    const parsed = labelSchema.safeParse(JSON.parse(line));
    if (parsed.success) return ok(parsed.data);
    const [issue] = parsed.error.issues;
    return fail(
      'no-label',
      shown(`${issue?.path.join('.') || 'no label'}: ${issue?.message ?? 'not as it should be'}`),
    );
  } catch {
    return fail('no-label', 'no JSON');
  }
}
