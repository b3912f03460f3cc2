import { defineConfig } from 'vitest/config';

// unit: beside the code, no outside world. system: real tmux, PostgreSQL and the CLI.
// clients: the real Claude Code. long: what takes too long for every run.
export default defineConfig({
  test: {
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Most of the time they wait, for a daemon that looks every two seconds.
          maxWorkers: 3,
          globalSetup: ['test/system/postgres-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // One after the other: they assert how soon a state is seen, and a client takes a core while it starts.
          maxWorkers: 1,
          // Where a file says that its scenarios may go together.
          maxConcurrency: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          testTimeout: 900_000,
          hookTimeout: 120_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
