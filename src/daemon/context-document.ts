import { clients } from '../clients/clients.ts';
import { admit, bandName, bandOf, bandRule, type TaskSize } from '../decide/bands.ts';
import { forecastContext, type Reach } from '../decide/forecast.ts';
import { ownHost } from '../home/host-id.ts';
import { percentOf } from '../model/percent.ts';
import type { Result } from '../model/result.ts';
import type { ContextPoint } from '../model/store.ts';
import { time } from '../model/time.ts';
import { type ContextHistory, readContext } from '../record/context.ts';
import type { QueryFailure } from '../record/queries.ts';
import { type AgentDocument, contextFigures } from './status.ts';

/** The JSON shapes of `context` and `can-accept`. */
export type ContextDocument = ReturnType<typeof contextDocument>;
export type AdmissionDocument = ReturnType<typeof admissionDocument>;
export type { TaskSize } from '../decide/bands.ts';

const pointsMax = 5_000;

export function contextOf(url: string, agent: string): Promise<Result<ContextHistory, QueryFailure>> {
  return readContext(url, ownHost(), agent, pointsMax);
}

export function contextDocument(
  { host, view, points, ownCompaction }: ContextHistory,
  edges: readonly number[],
  nowMs: number,
) {
  const { context } = view;
  const compactsAt =
    context === null || view.model === null ? null : compactionPoint(view.client, view.model, context.window);
  const forecast =
    view.reading.state === 'ended'
      ? null
      : forecastContext(points, edges, nowMs, ownCompaction?.usedBefore ?? compactsAt);
  const index = context === null ? null : bandOf(context.percent, edges);
  // In the highest band the next mark is the end itself.
  const next = forecast?.next ?? forecast?.usableEnd ?? null;
  return {
    v: 1,
    agent: view.agent,
    host,
    session_id: view.sessionId,
    state: view.reading.state,
    context: contextFigures(context),
    band: index === null ? null : bandName(index, edges),
    rule: index === null ? null : bandRule(index).words,
    /** Tokens that can still be used. */
    room: context === null ? null : Math.max(0, context.usable - context.used),
    points: points.map((point) => ({
      at: time(point.atMs),
      used: point.used,
      window: point.window,
      percent: percentOf(point.used, point.window),
      source: point.source,
      turn_at: point.turnAtMs === null ? null : time(point.turnAtMs),
      compacted: point.compacted,
      used_before: point.usedBefore,
    })),
    forecast:
      forecast === null || next === null
        ? null
        : {
            band: forecast.next === null ? 'usable-end' : bandName(edges.indexOf(forecast.edge ?? 0) + 1, edges),
            ...reachDocument(next),
            largest_step: forecast.largestStep,
            usable_end: forecast.usableEnd === null ? null : reachDocument(forecast.usableEnd),
            compaction: forecast.compaction === null ? null : reachDocument(forecast.compaction),
          },
    /** Where the client compacts by itself on this model, in tokens; null: it does not, or the model is not known. */
    compacts_at: compactsAt,
    /** Where the client compacted by itself the last time, on a window of this size. */
    client_compacts: ownCompaction === null ? null : compactionDocument(ownCompaction),
  };
}

/** Whether an agent may be given a task of this size now. */
export function admissionDocument(agent: AgentDocument, size: TaskSize, edges: readonly number[]) {
  const percent = isCurrent(agent) ? (agent.context?.percent ?? null) : null;
  const isHandedOver = agent.handoff !== null;
  const { accept, band, reason, handoff } = admit(agent.state, percent, size, edges, isHandedOver);
  return {
    v: 1,
    agent: agent.agent,
    host: agent.host,
    accept,
    band: band === null ? null : bandName(band, edges),
    percent,
    reason,
    handoff,
    rule: band === null ? null : bandRule(band).words,
  };
}

/** The end of a turn stands on record in several places, a moment apart. */
const sameTurnMs = 10_000;

/** What an agent answered about its context is its word on that moment: after more work nobody knows. */
function isCurrent({ context, last_activity: last }: AgentDocument): boolean {
  if (context?.source !== 'answer' || context.at === null || last === null) return true;
  return Date.parse(last) <= Date.parse(context.at) + sameTurnMs;
}

function reachDocument({ atMs, lowMs, highMs, steps }: Reach) {
  return { at: time(atMs), low: time(lowMs), high: time(highMs), steps };
}

function compactionDocument({ atMs, usedBefore, used, window }: ContextPoint) {
  return { at: time(atMs), used_before: usedBefore, used_after: used, window };
}

function compactionPoint(client: string, model: string, window: number): number | null {
  return clients.find(({ name }) => name === client)?.models.compactionPoint(model, window) ?? null;
}
