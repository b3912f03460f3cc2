import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// unit: beside the code, no outside world. system: real tmux, PostgreSQL and the CLI.
// clients: the real Claude Code; timed: those of them that assert how soon something is seen or found. `npm test` runs the two
// side by side, the clients with what is left of the processor.
// long: what takes too long for every run; long-timed: those of them that assert times, or wait for a moment of milliseconds.
const timed = ['more-states', 'spawns', 'state-matrix'].map((name) => `test/clients/${name}.test.ts`);
const longTimed = ['conformance', 'people', 'prompts', 'rule-limits', 'state-matrix', 'states', 'versions'].map(
  (name) => `test/long/${name}.test.ts`,
);
const madeDatabase = { globalSetup: ['test/system/made-database.ts'] };
const long = { ...madeDatabase, testTimeout: 900_000, hookTimeout: 120_000 };
// Two at a time where a file says that its scenarios may go together.
const realClients = { ...madeDatabase, testTimeout: 180_000, hookTimeout: 120_000, maxConcurrency: 2 };

const seconds: Record<string, number> = JSON.parse(readFileSync('scripts/test/seconds.json', 'utf8'));

/** The longest first, as measured: one that begins last is waited for with a core idle. A fresh clone knows no times. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const took = ({ moduleId }: TestSpecification) => seconds[path.relative(process.cwd(), moduleId)] ?? 0;
    return (await super.sort(files)).sort((a, b) => took(b) - took(a));
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    projects: [
      // Thousands of made-up inputs take their time on a machine that has other things to do.
      {
        extends: true,
        test: { name: 'unit', include: ['{src,bench}/**/*.test.ts'], testTimeout: 60_000, maxWorkers: 2 },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Much of the time they wait, for a daemon that looks every two seconds.
          maxWorkers: 4,
          globalSetup: ['test/system/made-database.ts', 'test/system/postgres-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          exclude: timed,
          ...realClients,
          maxWorkers: 3,
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: timed,
          ...realClients,
          // One after the other: a client takes a core while it starts.
          maxWorkers: 1,
        },
      },
      {
        extends: true,
        test: { name: 'long', include: ['test/long/**/*.test.ts'], exclude: longTimed, ...long, maxWorkers: 3 },
      },
      { extends: true, test: { name: 'long-timed', include: longTimed, ...long, maxWorkers: 1 } },
    ],
  },
});
