import path from 'node:path';
import { loopLimits } from '../../detect/loops/check.ts';
import { type JudgeLimits, type RunFinding, RunJudge, type RunNote } from '../../detect/loops/judge.ts';
import { type RunState, stateAfter } from '../../detect/loops/run-state.ts';
import { trendChecks } from '../../detect/trends/watch.ts';
import { ok, type Result } from '../../model/result.ts';
import { shown } from '../../model/text.ts';
import { trendLimitsOf } from '../check-limits.ts';
import type { Config } from '../config/schema.ts';
import { type ReadProblem, readRun } from './read-run.ts';

/** A person who reads a plan or a diff takes minutes; only what outlasts that is told from a record alone. */
const presentPersonFactor = 3;
const minuteMs = 60_000;

const confidences = new Map<string, number>(trendChecks.map(({ name, confidence }) => [name, confidence]));

export function judgeLimits({ stall, waiting, judging }: Pick<Config, 'stall' | 'waiting' | 'judging'>): JudgeLimits {
  return {
    loop: loopLimits,
    trend: trendLimitsOf(judging),
    silence: {
      thinkingMs: stall.thinkingMinutes * minuteMs,
      toolMs: stall.toolMinutes * minuteMs,
      mcpMs: stall.mcpMinutes * minuteMs,
      subagentMs: stall.subagentMinutes * minuteMs,
      waitingMs: waiting.notifyMinutes * presentPersonFactor * minuteMs,
    },
  };
}

export type ReplayLine =
  | { v: 1; index: number; at: string | null; state: string; detail: string | null }
  | { v: 1; index: number; at: string | null; finding: ReplayFinding; event: 'open' | 'close' }
  | { v: 1; summary: ReplaySummary };

interface ReplayFinding {
  id: string;
  check: string;
  severity: 'warning';
  confidence: number;
  since: string | null;
  from_index: number;
  evidence: { source: 'transcript'; at: string | null; text: string }[];
  action: null;
}

export interface ReplaySummary {
  file: string;
  format: string;
  lines: number;
  events: number;
  steps: number;
  malformed: number;
  unstructured: number;
  oversized: number;
  set_aside: Record<string, number>;
  findings: Record<string, number>;
  open_turn_s: number;
}

/** One recorded run through the checks, told line by line as it goes. */
export async function replayFile(
  file: string,
  limits: JudgeLimits,
  tell: (line: ReplayLine) => void,
): Promise<Result<ReplaySummary, ReadProblem>> {
  const found: Record<string, number> = {};
  const name = shown(path.basename(file), 200);
  const judge = new RunJudge(limits, ({ event, finding }: RunNote) => {
    if (event === 'open') found[finding.check] = (found[finding.check] ?? 0) + 1;
    const closed = event === 'close';
    const at = time(closed ? (finding.untilMs ?? Number.NaN) : finding.atMs);
    const index = closed ? (finding.until ?? finding.index) : finding.index;
    tell({ v: 1, index, at, finding: findingDocument(name, finding), event });
  });
  let state: RunState | null = null;
  const read = await readRun(file, (event) => {
    judge.take(event);
    const next = event.side ? null : stateAfter(event.fact);
    if (next === null || (next.state === state?.state && next.detail === state.detail)) return;
    state = next;
    tell({ v: 1, index: event.index, at: time(event.atMs), ...next });
  });
  if (!read.ok) return read;
  const { format, counts } = read.value;
  const summary: ReplaySummary = {
    file: name,
    format,
    ...counts,
    steps: judge.steps,
    set_aside: Object.fromEntries(judge.counts),
    findings: found,
    open_turn_s: Math.round(judge.openMs / 1000),
  };
  tell({ v: 1, summary });
  return ok(summary);
}

function findingDocument(name: string, finding: RunFinding): ReplayFinding {
  const since = time(finding.sinceMs);
  return {
    id: `${name}:${finding.check}:${finding.from}`,
    check: finding.check,
    severity: 'warning',
    confidence: confidences.get(finding.check) ?? 0.8,
    since,
    from_index: finding.from,
    evidence: [{ source: 'transcript', at: since, text: shown(finding.text, 300) }],
    action: null,
  };
}

function time(ms: number): string | null {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}
