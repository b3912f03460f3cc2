import type { Result } from '../model/result.ts';
import { printable } from '../model/text.ts';

/** One thing wrong with one file. `key` and `text` are already printable. */
export interface ConfigProblem {
  file: string;
  /** Both count from 1; null where the whole file is meant. */
  line: number | null;
  column: number | null;
  key: string | null;
  text: string;
}

export type ConfigResult<T> =
  | { ok: true; value: T }
  | (Extract<Result<T, 'bad-config'>, { ok: false }> & { problems: ConfigProblem[] });

/** `file:line:column: key: what is wrong: what is allowed`, always one line. */
export function formatProblem(problem: ConfigProblem): string {
  const place = problem.line === null ? '' : `:${problem.line}:${problem.column ?? 1}`;
  const key = problem.key === null ? '' : `${problem.key}: `;
  return `${printable(problem.file)}${place}: ${key}${problem.text}`;
}

export function badConfig(problems: ConfigProblem[]): Extract<ConfigResult<never>, { ok: false }> {
  const first = problems[0];
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return {
    ok: false,
    reason: 'bad-config',
    message: `${first === undefined ? 'bad configuration' : formatProblem(first)}${more}`,
    fix: '`watchkeeper config check` lists every problem',
    problems,
  };
}
