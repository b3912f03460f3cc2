import { bandName, bandRule, isSameStay } from '../decide/bands.ts';
import { checkNames, definitionOf } from '../detect/checks.ts';
import { healthStatus } from '../detect/health.ts';
import type { AgentView, Found, Sighting } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Json } from '../model/event.ts';
import type { CheckRow } from '../model/store.ts';

interface Intervals {
  healthIntervalMinutes: number;
  /** Edges of the bands of context, in percent. */
  bands: readonly number[];
}

/** The rows of `health_checks` at every interval: a summary, and the context, also when its band changes. */
export class HealthRows {
  readonly #intervals: () => Intervals;
  readonly #summaryAtMs = new Map<string, number>();

  constructor(intervals: () => Intervals) {
    this.#intervals = intervals;
  }

  /** `view`: null where the agent is forgotten by now. */
  rows(before: Sighting | null, view: AgentView | null, nowMs: number): CheckRow[] {
    if (view === null) return [];
    const rows: CheckRow[] = [];
    const row = (type: string, status: CheckRow['status'], details: { [key: string]: Json }) =>
      rows.push({ agent: view.agent, project: view.project, atMs: nowMs, type, status, details });
    const { healthIntervalMinutes, bands } = this.#intervals();
    const last = this.#summaryAtMs.get(view.agent);
    const isDue = last === undefined || Math.abs(nowMs - last) >= healthIntervalMinutes * 60_000;
    if (isDue) {
      this.#summaryAtMs.set(view.agent, nowMs);
      const status = healthStatus(view);
      row('summary', status === 'healthy' ? 'ok' : status, summaryDetails(view));
    }
    // Its name may be another's soon.
    if (view.reading.state === 'ended') this.#summaryAtMs.delete(view.agent);
    if (isDue || !isSameStay(before?.band ?? null, view.band))
      row('context', contextStatus(view), contextDetails(before, view, bands, nowMs));
    return rows;
  }
}

const ofContext: readonly CheckName[] = ['context-high', 'context-full'];
/** The rows of the context, of background work and of handoffs say it themselves. */
const saidElsewhere: readonly CheckName[] = [
  ...ofContext,
  ...(['spawn-stalled', 'spawn-failed', 'spawn-abandoned', 'handoff-failed'] as const),
];

/** The row of a trouble that began, or with `ok` is over; null: another row says it. */
export function findingRow(
  { by, agent, project }: { by: string; agent: string | null; project: string },
  finding: Found & { id: string },
  status: CheckRow['status'],
  atMs: number,
): CheckRow | null {
  const { id, check, subject, confidence, sinceMs, evidence } = finding;
  if (saidElsewhere.includes(check)) return null;
  const row = { agent, project, atMs, status };
  const texts = evidence.map(({ text }) => text);
  if (check === 'orphaned-work')
    return { ...row, type: 'orphaned_work', details: { finding: id, session_id: subject, evidence: texts } };
  if (by !== 'checks') return { ...row, type: check, details: { finding: id, subject, evidence: texts } };
  const since = new Date(sinceMs).toISOString();
  const shown = { confidence, since, evidence: evidence.map(({ source, text }) => ({ source, text })) };
  return { ...row, type: check, details: { finding: id, ...(status === 'ok' ? {} : shown) } };
}

function contextStatus({ band }: AgentView): CheckRow['status'] {
  return band === null ? 'unknown' : bandRule(band.index).status;
}

/** Usage from 0 to 1, as the first requirements have it; each source on its own scale. */
function contextDetails(
  before: Sighting | null,
  view: AgentView,
  bands: readonly number[],
  nowMs: number,
): { [key: string]: Json } {
  const { context, contexts, model, band } = view;
  const from = before?.band ?? null;
  return {
    band: band === null ? null : bandName(band.index, bands),
    from: isSameStay(from, band) || from === null ? null : bandName(from.index, bands),
    finding: view.findings.find(({ check }) => ofContext.includes(check))?.id ?? null,
    context_usage: context === null ? null : context.used / context.window,
    estimated_tokens_used: context?.used ?? null,
    window: context?.window ?? null,
    usable: context?.usable ?? null,
    source: context?.source ?? null,
    age_s: context === null ? null : Math.round((nowMs - context.atMs) / 1000),
    model,
    sources: contexts.map(({ source, percent, scale, used, atMs }) => ({
      source,
      percent,
      scale,
      used,
      age_s: Math.round((nowMs - atMs) / 1000),
    })),
  };
}

function summaryDetails(view: AgentView): { [key: string]: Json } {
  return {
    state: view.reading.state,
    detail: view.reading.detail,
    context_percent: view.context?.percent ?? null,
    last_turn: view.lastTurn,
    findings: view.findings.map((finding) => finding.check),
    checks: Object.fromEntries(ofAgents.map((check) => [check, checkStatus(check, view)])),
  };
}

const ofAgents = checkNames.filter((name) => definitionOf(name).about !== 'host');

/** Of an agent of which nothing can be known no check can say that all is well. */
function checkStatus(check: CheckName, view: AgentView): CheckRow['status'] {
  const severities = view.findings.filter((finding) => finding.check === check).map(({ severity }) => severity);
  if (severities.length > 0) return severities.includes('critical') ? 'critical' : 'warning';
  return view.reading.state === 'unknown' ? 'unknown' : 'ok';
}
