import { bandName, bandRule, isSameStay } from '../decide/bands.ts';
import { healthStatus } from '../detect/health.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { Json } from '../model/event.ts';
import type { CheckRow } from '../model/store.ts';

interface Intervals {
  healthIntervalMinutes: number;
  /** Edges of the bands of context, in percent. */
  bands: readonly number[];
}

/** The rows of `health_checks`: one when a check's verdict changes, and at every interval a summary and the context. */
export class HealthRows {
  readonly #intervals: () => Intervals;
  readonly #summaryAtMs = new Map<string, number>();

  constructor(intervals: () => Intervals) {
    this.#intervals = intervals;
  }

  forget(agent: string): void {
    this.#summaryAtMs.delete(agent);
  }

  rows(before: AgentView | null, view: AgentView, nowMs: number): CheckRow[] {
    const rows: CheckRow[] = [];
    const row = (type: string, status: CheckRow['status'], details: { [key: string]: Json }) =>
      rows.push({ agent: view.agent, project: view.project, atMs: nowMs, type, status, details });
    const opened = view.findings.filter((finding) => !before?.findings.some((old) => old.id === finding.id));
    const closed = (before?.findings ?? []).filter((old) => !view.findings.some((finding) => finding.id === old.id));
    for (const finding of opened.filter(hasOwnRow)) row(finding.check, finding.severity, findingDetails(finding));
    for (const finding of closed.filter(hasOwnRow)) row(finding.check, 'ok', { finding: finding.id });
    const { healthIntervalMinutes, bands } = this.#intervals();
    const last = this.#summaryAtMs.get(view.agent);
    const isDue = last === undefined || Math.abs(nowMs - last) >= healthIntervalMinutes * 60_000;
    if (isDue) {
      this.#summaryAtMs.set(view.agent, nowMs);
      const status = healthStatus(view);
      row('summary', status === 'healthy' ? 'ok' : status, summaryDetails(view));
    }
    if (isDue || !isSameStay(before?.band ?? null, view.band))
      row('context', contextStatus(view), contextDetails(before, view, bands, nowMs));
    return rows;
  }
}

/** The context's row says it, with the band. */
function hasOwnRow({ check }: Finding): boolean {
  return check !== 'context-high' && check !== 'context-full';
}

function contextStatus({ band }: AgentView): CheckRow['status'] {
  return band === null ? 'unknown' : bandRule(band.index).status;
}

/** Usage from 0 to 1, as the first requirements have it; each source on its own scale. */
function contextDetails(
  before: AgentView | null,
  view: AgentView,
  bands: readonly number[],
  nowMs: number,
): { [key: string]: Json } {
  const { context, contexts, model, band } = view;
  const from = before?.band ?? null;
  return {
    band: band === null ? null : bandName(band.index, bands),
    from: isSameStay(from, band) || from === null ? null : bandName(from.index, bands),
    finding: view.findings.find((finding) => !hasOwnRow(finding))?.id ?? null,
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

function findingDetails(finding: Finding): { [key: string]: Json } {
  return {
    finding: finding.id,
    confidence: finding.confidence,
    since: new Date(finding.sinceMs).toISOString(),
    evidence: finding.evidence.map(({ source, text }) => ({ source, text })),
  };
}

function summaryDetails(view: AgentView): { [key: string]: Json } {
  return {
    state: view.reading.state,
    detail: view.reading.detail,
    context_percent: view.context?.percent ?? null,
    last_turn: view.lastTurn,
    findings: view.findings.map((finding) => finding.check),
  };
}
