// The table of which source decided what, and how fast, as the run itself saw it.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

interface Row {
  truth: string;
  how: string;
  state: string;
  source: string;
  lagMs: number;
}

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');

export class StateReport {
  readonly #rows: Row[] = [];

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** `npm run test:long` keeps it with the documentation; other runs leave the tree as it is. */
  write(): void {
    const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
    mkdirSync(folder, { recursive: true });
    const lines = this.#rows.map(
      (row) => `| ${row.truth} | ${row.how} | \`${row.state}\` | ${row.source} | ${row.lagMs} |`,
    );
    const slowest = Math.max(0, ...this.#rows.map((row) => row.lagMs));
    const text = [
      '# Which source decided what, and how fast',
      '',
      'Written by `test/clients/states.test.ts` on the real Claude Code 2.1.325, without hooks or status line. The last',
      'column is the time in ms from the truth (by the model server, the keys or the signal) to the word of',
      '`watchkeeper events --follow`, program to program.',
      '',
      `Rows: ${this.#rows.length}; slowest: ${slowest} ms.`,
      '',
      '| truth | agent | seen as | source | ms |',
      '|---|---|---|---|---|',
      ...lines,
      '',
    ];
    writeFileSync(path.join(folder, 'states.md'), text.join('\n'));
  }
}
