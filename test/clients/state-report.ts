// The table of which source decided what, and how fast, as the run itself saw it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeadlineMissed } from '../../src/conform/until.ts';
import type { AgentDocument } from '../../src/daemon/status.ts';
import type { Watching } from './watching.ts';

interface Row {
  truth: string;
  how: string;
  state: string;
  source: string;
  lagMs: number;
}

/** Each row of the table has to be seen this soon after it became true. */
export const withinMs = 2_000;

/** Too late by the clock is a missed deadline, as if it had been waited for. */
export function expectInTime(what: string, lagMs: number, maxMs = withinMs): void {
  if (lagMs >= maxMs) throw new DeadlineMissed(`${what}: seen after ${lagMs} ms, not within ${maxMs} ms`);
}

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const scratch = path.join(root, 'test-results');

export class StateReport {
  readonly #rows: Row[] = [];
  readonly #part: string;

  /** Each test file fills its own part; the table has them all. */
  constructor(part: string) {
    this.#part = part;
  }

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** Sees the state in time, and keeps the row. */
  async see(
    watch: Watching,
    agent: string,
    how: string,
    truth: string,
    wanted: string,
    truthMs: number,
  ): Promise<AgentDocument> {
    const verdict = await watch.expect(agent, wanted, truthMs);
    this.add({ truth, how, state: verdict.state, source: verdict.source, lagMs: verdict.lagMs });
    expectInTime(truth, verdict.lagMs);
    return verdict.status;
  }

  /** `npm run test:long` keeps it with the documentation; other runs leave the tree as it is. */
  write(): void {
    mkdirSync(scratch, { recursive: true });
    writeFileSync(path.join(scratch, `states.${this.#part}.json`), JSON.stringify(this.#rows));
    const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'states.md'), text(allRows()));
  }
}

function allRows(): Row[] {
  return readdirSync(scratch)
    .filter((name) => /^states\..*\.json$/.test(name))
    .sort()
    .flatMap((name) => JSON.parse(readFileSync(path.join(scratch, name), 'utf8')) as Row[]);
}

function text(rows: Row[]): string {
  const lags = rows.map((row) => row.lagMs).sort((a, b) => a - b);
  return [
    '# Which source decided what, and how fast',
    '',
    'Written by the state scenarios in `test/clients/` on the real Claude Code 2.1.325, without hooks or status line. The',
    'last column is the time in ms from the truth (by the model server, the keys or the signal) to the word of',
    '`watchkeeper events --follow`, program to program.',
    '',
    `Rows: ${rows.length}; median ${lags[Math.floor(lags.length / 2)] ?? 0} ms, slowest ${lags.at(-1) ?? 0} ms.`,
    '',
    '| truth | agent | seen as | source | ms |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.truth} | ${row.how} | \`${row.state}\` | ${row.source} | ${row.lagMs} |`),
    '',
  ].join('\n');
}
