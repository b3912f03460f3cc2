import type { FindingEvidence, Found, FoundTrouble } from '../model/agent.ts';
import type { AgentOrHost } from '../model/agent-ref.ts';
import type { CheckName } from '../model/check.ts';
import { isPlainWord } from '../model/evidence.ts';
import type { SpawnSource, SpawnStatus } from '../model/spawn.ts';
import { shown } from '../model/text.ts';

/** One spawn at one moment, as the checks see it. */
export interface SpawnState extends AgentOrHost {
  /** The number of its row, where that is known. */
  row: number | null;
  project: string;
  sessionId: string | null;
  taskId: string;
  taskType: string | null;
  label: string | null;
  source: SpawnSource;
  status: SpawnStatus;
  reason: string | null;
  output: string | null;
  quietMs: number;
  failureLine: string | null;
  endedAtMs: number | null;
  /** On purpose, so no failure. */
  stopped: boolean;
  /** It failed and nobody was told yet. */
  untold: boolean;
  /** Since when it has no parent any more, and how that came. */
  orphan: { how: 'ended' | 'cleared'; sinceMs: number } | null;
}

const failuresMin = 3;
const listCharsMax = 1_000;

/** All troubles of the spawns. What has lost its parent is told as that alone: there is nobody to ask about it. */
export function findSpawnTroubles(
  spawns: readonly SpawnState[],
  limits: { warnMs: number },
  nowMs: number,
): FoundTrouble[] {
  const found: FoundTrouble[] = [];
  for (const spawn of spawns) {
    const trouble = troubleOf(spawn, limits.warnMs, nowMs);
    if (trouble === null || (spawn.orphan !== null && spawn.source === 'client')) continue;
    found.push({ ...whose(spawn), finding: trouble });
  }
  return [...found, ...orphans(spawns), ...failingKinds(spawns)];
}

function whose({ host, agent, project }: SpawnState) {
  return { host, agent, project };
}

function troubleOf(spawn: SpawnState, warnMs: number, nowMs: number): Found | null {
  const { status, quietMs } = spawn;
  const sinceMs = nowMs - quietMs;
  const minutes = quietMs / 60_000;
  const quiet = `${name(spawn)} has shown nothing new for ${round(minutes)} min${where(spawn)}`;
  switch (status) {
    case 'stalled':
      return finding('spawn-stalled', 'warning', 0.7, sinceMs, quiet, spawn, { minutes });
    case 'abandoned':
      return finding('spawn-abandoned', 'critical', 0.7, sinceMs, `${quiet}; it counts as abandoned`, spawn, {
        minutes,
      });
    case 'failed': {
      if (!spawn.untold) return null;
      const text = `${name(spawn)} failed${spawn.reason === null ? '' : `: ${spawn.reason}`}${where(spawn)}`;
      return finding('spawn-failed', 'critical', 0.9, spawn.endedAtMs ?? nowMs, text, spawn, {
        error: failureWords(spawn),
      });
    }
    case 'running': {
      if (spawn.failureLine === null || quietMs < warnMs) return null;
      const text = `the output of ${name(spawn)} ends like a failure: ${spawn.failureLine}`;
      return finding('spawn-looks-failed', 'warning', 0.4, sinceMs, text, spawn, {});
    }
    case 'finished':
      return null;
  }
}

function finding(
  check: CheckName,
  severity: Found['severity'],
  confidence: number,
  sinceMs: number,
  text: string,
  spawn: SpawnState,
  slots: Record<string, string | number>,
): Found {
  const evidence: FindingEvidence[] = [{ source: sourceOf(spawn), atMs: sinceMs, text: shown(text, listCharsMax) }];
  const output = spawn.output?.slice(spawn.output.lastIndexOf('/') + 1) ?? 'none';
  const task = { task: called(spawn.taskId, spawn.row), output: called(output, spawn.row) };
  return {
    check,
    subject: spawn.taskId,
    severity,
    confidence,
    sinceMs,
    evidence,
    action: null,
    slots: { ...task, ...slots },
  };
}

/** By its name, if that can be typed; else by the number of its row, under which `spawn-track list` has it. */
function called(name: string, row: number | null): string | number {
  return isPlainWord(name) ? name : (row ?? 'unnamed');
}

/** Work whose parent ended or was cleared: nobody waits for it any more. One finding for each session left behind. */
function orphans(spawns: readonly SpawnState[]): FoundTrouble[] {
  const open = spawns.filter(({ orphan, status }) => orphan !== null && status !== 'finished' && status !== 'failed');
  return [...groups(open, (spawn) => `${spawn.agent}\n${spawn.sessionId ?? ''}`)].map((group) => {
    const [first] = group;
    const sinceMs = Math.min(...group.map((spawn) => spawn.orphan?.sinceMs ?? 0));
    const how = first.orphan?.how === 'cleared' ? 'a new session was begun over it' : 'its parent ended';
    const list = group.map((spawn) => `${name(spawn)}${where(spawn)}`).join('; ');
    return {
      ...whose(first),
      finding: {
        check: 'orphaned-work',
        subject: first.sessionId,
        severity: 'warning',
        confidence: 0.9,
        sinceMs,
        evidence: [
          { source: 'transcript', atMs: sinceMs, text: shown(`work without a parent (${how}): ${list}`, listCharsMax) },
        ],
        action: null,
        slots: null,
      },
    };
  });
}

/** Spawns of one kind of which none has finished and the last ones all failed: it is not the work, it is the kind. */
function failingKinds(spawns: readonly SpawnState[]): FoundTrouble[] {
  const ended = spawns.filter((spawn) => spawn.label !== null && !spawn.stopped && spawn.endedAtMs !== null);
  return [...groups(ended, (spawn) => `${spawn.agent}\n${kind(spawn)}`)].flatMap((group) => {
    const [first] = group;
    if (group.length < failuresMin || group.some(({ status }) => status !== 'failed')) return [];
    const sinceMs = Math.min(...group.map((spawn) => spawn.endedAtMs ?? 0));
    const text = `all ${group.length} spawns of the kind ${kind(first)} failed, the last one: ${group.at(-1)?.reason ?? 'for no given reason'}`;
    return [
      {
        ...whose(first),
        finding: {
          check: 'spawns-failing' as const,
          subject: kind(first),
          severity: 'warning' as const,
          confidence: 0.8,
          sinceMs,
          evidence: [{ source: 'transcript' as const, atMs: sinceMs, text: shown(text, listCharsMax) }],
          action: null,
          slots: null,
        },
      },
    ];
  });
}

function* groups(
  spawns: readonly SpawnState[],
  by: (spawn: SpawnState) => string,
): Iterable<[SpawnState, ...SpawnState[]]> {
  const found = new Map<string, [SpawnState, ...SpawnState[]]>();
  for (const spawn of spawns) {
    const group = found.get(by(spawn));
    if (group === undefined) found.set(by(spawn), [spawn]);
    else group.push(spawn);
  }
  yield* found.values();
}

/** Only figures of the reason are ever typed: its words are the agent's, or come out of a log. */
function failureWords({ reason, source }: SpawnState): string {
  const exit = /\bexit code (\d{1,5})\b/.exec(reason ?? '')?.[1];
  if (exit !== undefined) return `exit code ${exit}`;
  const http = /\bHTTP (\d{3})\b/.exec(reason ?? '')?.[1];
  if (http !== undefined) return `an API error, HTTP ${http}`;
  return source === 'client' ? 'as its client says' : 'as was reported';
}

function sourceOf({ taskType, source, status }: SpawnState): FindingEvidence['source'] {
  if (status === 'failed') return source === 'client' ? 'transcript' : 'spawn-track';
  return source === 'client' && taskType === 'subagent' ? 'transcript' : 'output';
}

function kind(spawn: SpawnState): string {
  const type = spawn.taskType ?? 'spawn';
  return spawn.label === null || spawn.label === type ? type : `${type} ${spawn.label}`;
}

function name(spawn: SpawnState): string {
  return `${spawn.taskType ?? 'spawn'} ${spawn.taskId}`;
}

function where(spawn: SpawnState): string {
  return spawn.output === null ? '' : ` (${spawn.output})`;
}

function round(minutes: number): number {
  return minutes < 10 ? Math.round(minutes * 10) / 10 : Math.round(minutes);
}
