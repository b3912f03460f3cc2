// Agents whose background work is watched with minutes shortened to seconds, and the rows about it.
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { type Agent, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Watching } from './watching.ts';

export interface Row {
  project: string;
  task_id: string;
  task_type: string;
  description: string | null;
  spawn_time: Date;
  last_output_change: Date | null;
  output_file: string | null;
  status: string;
  reason: string | null;
}

interface Check {
  project: string;
  check_time: Date;
  check_type: string;
  status: string;
  details: Record<string, unknown>;
  action_taken: string | null;
}

export const tickMs = 1_000;
export const stallMs = 6_000;
/** From the threshold to the row: a tick, and the way into the database. */
export const found: { what: string; lateMs: number }[] = [];

/** Minutes shortened to seconds. */
export const settings = {
  tickSeconds: tickMs / 1000,
  healthIntervalMinutes: 0.1,
  prompt: { minIntervalMinutes: 0.01, humanQuietSeconds: 0.5 },
  spawn: { stallMinutes: stallMs / 60_000, abandonMinutes: 60 },
};

export function spawning(
  body: (s: Scenario, watch: Watching, rows: Rows) => Promise<void>,
  more: Record<string, unknown> = {},
) {
  return scenario(async (s) => {
    const file = path.join(s.home, 'config.yaml');
    writeFileSync(file, JSON.stringify({ ...settings, ...more }));
    const watch = new Watching(s);
    const rows = new Rows(s);
    try {
      await watch.start([], { WATCHKEEPER_CONFIG: file });
      await body(s, watch, rows);
    } finally {
      await rows.close();
      watch.stop();
    }
  });
}

/** The tables as the first requirement's own queries read them. */
export class Rows {
  readonly #scenario: Scenario;
  #client: pg.Client | null = null;

  constructor(s: Scenario) {
    this.#scenario = s;
  }

  async query<T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> {
    if (this.#client === null) {
      const url = (await this.#scenario.watchkeeper(['db', 'url'])).stdout.trim();
      this.#client = new pg.Client({ connectionString: url });
      this.#client.on('error', () => {});
      await this.#client.connect();
    }
    return (await this.#client.query<T>(sql, values)).rows;
  }

  spawns(project: string): Promise<Row[]> {
    return this.query<Row>('SELECT * FROM active_spawns WHERE project = $1 ORDER BY id', [project]);
  }

  checks(project: string, type = 'spawn'): Promise<Check[]> {
    return this.query<Check>('SELECT * FROM health_checks WHERE project = $1 AND check_type = $2 ORDER BY id', [
      project,
      type,
    ]);
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => {});
  }
}

export async function ready(
  s: Scenario,
  watch: Watching,
  options: Partial<Parameters<typeof launchAgent>[0]> & { session: string },
) {
  const agent = await launchAgent({ scenario: s, extraSettings: { permissions: { allow: ['Bash'] } }, ...options });
  await agent.waitReady();
  await watch.expect(options.session, 'idle', Date.now());
  return agent;
}

/** Waits for a row of this status, and notes how long after the threshold its check was made. */
export async function seenAs(s: Scenario, rows: Rows, project: string, status: string, what: string): Promise<Row> {
  const row = await s.until(
    `a spawn of ${project} ${status}`,
    async () => (await rows.spawns(project)).find((each) => each.status === status),
    30_000,
  );
  const check = await s.until('its check', async () =>
    (await rows.checks(project)).find(
      ({ details }) => details.task_id === row.task_id && details.spawn_status === status,
    ),
  );
  if (status === 'stalled' && row.output_file !== null) {
    // What was in the file before it began is no silence of its own.
    const changedMs = Math.max(statSync(row.output_file).mtimeMs, row.spawn_time.getTime());
    found.push({ what, lateMs: Math.round(check.check_time.getTime() - changedMs - stallMs) });
  }
  return row;
}

/** The prompts about this spawn that arrived at the model. */
export function promptsAbout(agent: Agent, taskId: string): string[] {
  return agent.model.turns.map(({ prompt }) => prompt).filter((prompt) => prompt.includes(`Spawn “${taskId}” `));
}

export async function promptedOnce(s: Scenario, agent: Agent, row: Row, ms = 30_000): Promise<string> {
  const [first] = await s.until(
    `a prompt about ${row.task_id}`,
    () => {
      const prompts = promptsAbout(agent, row.task_id);
      return prompts.length > 0 ? prompts : null;
    },
    ms,
  );
  expect(first).toContain(row.output_file === null ? 'none' : `“${path.basename(row.output_file)}”`);
  return first ?? '';
}

/** Longer than any pause between two prompts. */
export async function staysAtOne(s: Scenario, agent: Agent, taskId: string): Promise<void> {
  const fromMs = Date.now();
  await s.until('a while later', () => Date.now() - fromMs > 4_000);
  expect(new Set(promptsAbout(agent, taskId)).size).toBe(1);
}
