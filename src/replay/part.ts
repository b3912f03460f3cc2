import type { Result } from '../model/result.ts';
import type { ReadProblem } from './read-run.ts';
import { type ReplayLine, type ReplayOptions, type ReplaySummary, replayFile } from './replay.ts';

export interface ReplayJob {
  file: string;
  /** As it is told: of a record in a folder, its place there. */
  name: string;
  bytes: number;
  /** Named by itself; one found in a folder may be something else. */
  named: boolean;
}

export interface PartOptions extends ReplayOptions {
  /** As text of JSON, one document a line; otherwise as they are. */
  json: boolean;
  /** Also every change of state. */
  states: boolean;
}

/** What one job has to say, in pieces, so that saying it costs little. */
export type ReplayPart = { json: string } | { lines: ReplayLine[] } | { read: number };

export type JobResult = Result<ReplaySummary, ReadProblem>;

const jsonCharsMax = 64 * 1024;
const linesMax = 100;
const readBytesMin = 4 * 1024 * 1024;

/** One record through the checks, by the main thread or by one of the others. */
export async function replayPart(
  job: ReplayJob,
  options: PartOptions,
  tell: (part: ReplayPart) => void,
): Promise<JobResult> {
  let json = '';
  let lines: ReplayLine[] = [];
  let bytes = 0;
  const flush = () => {
    if (json !== '') tell({ json });
    if (lines.length > 0) tell({ lines });
    json = '';
    lines = [];
  };
  const take = (line: ReplayLine) => {
    if ('state' in line && !options.states) return;
    if (options.json) json += `${JSON.stringify(line)}\n`;
    else lines.push(line);
    if (json.length >= jsonCharsMax || lines.length >= linesMax) flush();
  };
  const done = await replayFile(job, options, take, (more) => {
    bytes += more;
    if (bytes < readBytesMin) return;
    tell({ read: bytes });
    bytes = 0;
  });
  flush();
  tell({ read: bytes });
  return done;
}
