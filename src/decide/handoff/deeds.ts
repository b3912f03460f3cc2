import type { Refusal } from '../../model/action.ts';
import type { Handoff, HandoffAction, HandoffDeed } from '../../model/handoff.ts';

/** What the ledger says of our own actions in a handoff. */
export interface DeedFacts {
  nowMs: number;
  actions: readonly HandoffAction[];
  /** How long this run has known of each, on the clock that never jumps; without it the wall clock tells. */
  agesMs?: ReadonlyMap<string, number>;
}

export interface DeedSoFar {
  /** `open`: no word yet; `uncertain`: nobody knows whether it arrived. */
  is: 'none' | 'open' | 'done' | 'refused' | 'uncertain';
  /** How long ago it was, at least. */
  ageMs: number;
  /** What it was done for, in its own words. */
  why: string | null;
  refusal: Refusal | null;
  /** How often it may have been typed. */
  tries: number;
  /** It went out of the box before our eyes, and the client's record does not have it. */
  isSubmitted: boolean;
}

/** After so long without a word nobody is at it any more. */
export const openMs = 60_000;

interface Where {
  handoff: Handoff;
  facts: DeedFacts;
}

/** What became of the last deed of this kind since the step was taken. */
export function deedOf({ handoff, facts }: Where, kind: HandoffDeed): DeedSoFar {
  const since = facts.actions.filter((action) => action.deed === kind && action.after === handoff.steps.length);
  const last = since.at(-1);
  const tries = since.filter((action) => !isRefused(action)).length;
  const none = { ageMs: Number.POSITIVE_INFINITY, why: null, refusal: null, tries, isSubmitted: false };
  if (last === undefined) return { is: 'none', ...none };
  const { atMs, why, outcomes } = last;
  const ageMs = facts.agesMs?.get(last.id) ?? facts.nowMs - atMs;
  const known = { ...none, ageMs, why };
  if (outcomes.length === 0) return { is: ageMs < openMs ? 'open' : 'uncertain', ...known };
  if (hasArrived(last)) return { is: 'done', ...known };
  if (isRefused(last)) return { is: 'refused', ...known, refusal: outcomes.at(-1)?.reason as Refusal | null };
  return { is: 'uncertain', ...known, isSubmitted: outcomes.some(({ reason }) => reason === 'no-proof') };
}

/** The last one that arrived, in whatever step. */
export function lastDone({ facts }: Where, kind: HandoffDeed): HandoffAction | null {
  return facts.actions.findLast((action) => action.deed === kind && hasArrived(action)) ?? null;
}

/** It may have been typed. */
export function wasTried({ is }: DeedSoFar): boolean {
  return is !== 'none' && is !== 'refused';
}

/** How often it may have been typed, in whatever step. */
export function timesTried({ facts }: Pick<Where, 'facts'>, kind: HandoffDeed): number {
  return facts.actions.filter((action) => action.deed === kind && !isRefused(action)).length;
}

/** In whatever step. */
export function wasEverTried({ facts }: Where, kind: HandoffDeed): boolean {
  return timesTried({ facts }, kind) > 0;
}

/** Refused for a reason that does not pass by itself. */
export function isHopeless({ refusal }: DeedSoFar): boolean {
  return refusal === 'unsafe-text' || refusal === 'unknown-command';
}

export function hasArrived({ outcomes }: HandoffAction): boolean {
  return outcomes.some(({ outcome }) => outcome === 'confirmed' || outcome === 'queued');
}

function isRefused({ outcomes }: HandoffAction): boolean {
  return outcomes.length > 0 && outcomes.every(({ outcome }) => outcome === 'refused');
}
