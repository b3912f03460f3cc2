import type { Finding, Sighting } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { SpawnEnd, SpawnRow, SpawnSign, SpawnStatus } from '../model/spawn.ts';
import type { CheckRow } from '../model/store.ts';
import type { Spawn, SpawnInstant } from './spawn.ts';

const checks: Partial<Record<SpawnStatus, CheckName>> = {
  stalled: 'spawn-stalled',
  failed: 'spawn-failed',
  abandoned: 'spawn-abandoned',
};

const severities: Record<SpawnStatus, CheckRow['status']> = {
  running: 'ok',
  finished: 'ok',
  stalled: 'warning',
  failed: 'critical',
  abandoned: 'critical',
};

/** The check row of a status that changed. `found`: what is wrong with it by the board. */
export function changeRow(
  spawn: Spawn,
  before: SpawnStatus,
  moment: SpawnInstant,
  found: (check: CheckName) => Finding | undefined,
): CheckRow {
  const { agent, project, taskId, taskType, output, status, reason } = spawn.row;
  const check = checks[status];
  return {
    agent,
    project,
    atMs: moment.nowMs,
    type: 'spawn',
    status: severities[status],
    details: {
      task_id: taskId,
      task_type: taskType,
      output_file: output,
      spawn_status: status,
      from: before,
      reason,
      minutes: minutes(spawn.quietMs),
      finding: check === undefined ? null : (found(check)?.id ?? null),
    },
  };
}

/** All running spawns of an agent in one row. */
export function summaryRow(agent: string, spawns: readonly Spawn[], atMs: number): CheckRow {
  const statuses = spawns.map(({ row }) => row.status);
  const count = (status: SpawnStatus) => statuses.filter((each) => each === status).length;
  const status = (['abandoned', 'stalled', 'running'] as const).find((each) => count(each) > 0) ?? 'running';
  return {
    agent,
    project: spawns[0]?.row.project ?? '',
    atMs,
    type: 'spawn',
    status: severities[status],
    details: {
      summary: true,
      running: count('running'),
      stalled: count('stalled'),
      abandoned: count('abandoned'),
      spawns: spawns.map(({ row, quietMs }) => ({
        task_id: row.taskId,
        task_type: row.taskType,
        output_file: row.output,
        status: row.status,
        reason: row.reason,
        minutes: minutes(quietMs),
      })),
    },
  };
}

export type SpawnDocument = ReturnType<typeof spawnDocument>;

/** As `status --json` shows it. */
export function spawnDocument(spawn: Spawn) {
  const { taskId, taskType, description, status, reason, output, source, spawnedAtMs, lastOutputMs } = spawn.row;
  return {
    task_id: taskId,
    task_type: taskType,
    description,
    status,
    reason,
    output_file: output,
    source,
    since: new Date(spawnedAtMs).toISOString(),
    last_output_change: lastOutputMs === null ? null : new Date(lastOutputMs).toISOString(),
    quiet_s: Math.round(spawn.quietMs / 1000),
  };
}

function minutes(ms: number): number {
  return Math.round(ms / 600) / 100;
}

export function keyOf(row: SpawnRow): string {
  return row.source === 'client' ? `client\n${row.agent}\n${row.taskId}` : `tracked\n${row.project}\n${row.taskId}`;
}

export function statusOf(end: SpawnEnd): SpawnRow['status'] {
  return end.how === 'finished' ? 'finished' : 'failed';
}

export function endOf(row: SpawnRow, nowMs: number): SpawnEnd | null {
  if (row.status !== 'finished' && row.status !== 'failed') return null;
  const stopped = row.status === 'failed' && /\bwas stopped$/.test(row.reason ?? '');
  return { how: stopped ? 'stopped' : row.status, atMs: row.endedAtMs ?? nowMs, text: row.reason };
}

/** The row of work that an agent's own record tells of. */
export function clientRow(host: string, view: Sighting, work: SpawnSign, sessionId: string | null): SpawnRow {
  return {
    id: null,
    host,
    agent: view.agent,
    project: view.project,
    taskId: work.id,
    taskType: work.kind,
    source: 'client',
    sessionId,
    label: work.label,
    description: work.description,
    output: work.output,
    spawnedAtMs: work.sinceMs,
    lastOutputMs: null,
    status: 'running',
    reason: null,
    endedAtMs: null,
  };
}
