import type { BandStay, State } from '../model/agent.ts';

/**
 * The bands of the context and what an agent in each of them may still take on (seed 000, section 3). The four edges
 * are configured; the bands are [0,a) [a,b) [b,c) [c,d] (d,100].
 */
export type TaskSize = 'tiny' | 'small' | 'large';

interface BandRule {
  /** The largest work it accepts. */
  accepts: TaskSize | 'none';
  status: 'ok' | 'warning' | 'critical';
  words: string;
}

const rules: readonly BandRule[] = [
  { accepts: 'large', status: 'ok', words: 'takes any task' },
  { accepts: 'large', status: 'ok', words: 'takes any task; time to think of a handoff' },
  { accepts: 'small', status: 'ok', words: 'takes small tasks only; a handoff before large ones' },
  { accepts: 'tiny', status: 'warning', words: 'takes tiny tasks only; a handoff after the current work' },
  { accepts: 'none', status: 'critical', words: 'takes nothing new before a handoff' },
];
const last = rules.length - 1;

const sizes: Record<TaskSize | 'none', number> = { none: 0, tiny: 1, small: 2, large: 3 };

/** So far back over an edge, in percent points, is still the same stay. */
const wobble = 2;

export function bandRule(index: number): BandRule {
  return rules[Math.min(Math.max(index, 0), last)] as BandRule;
}

/** The highest edge belongs to the band below it, all others to the band above. */
export function bandOf(percent: number, edges: readonly number[]): number {
  return edges.filter((edge, index) => (index === edges.length - 1 ? percent > edge : percent >= edge)).length;
}

/** `[50,70)`, as the table has it. */
export function bandName(index: number, edges: readonly number[]): string {
  const from = edges[index - 1] ?? 0;
  const to = edges[index] ?? 100;
  return `${index === edges.length ? '(' : '['}${from},${to}${index < edges.length - 1 ? ')' : ']'}`;
}

/**
 * The stay in a band that goes on or begins. Up counts at once; down only when the figure is clear of the edge, so that
 * a wobble around it is one stay. `before`: the stay of the same session, if any.
 */
export function holdBand(
  percent: number | null,
  before: BandStay | null,
  edges: readonly number[],
  nowMs: number,
): BandStay | null {
  if (percent === null || !Number.isFinite(percent)) return null;
  const index = bandOf(percent, edges);
  if (before === null) return { index, sinceMs: nowMs };
  if (index === before.index) return before;
  return index < before.index && !isClearOf(percent, before.index, edges) ? before : { index, sinceMs: nowMs };
}

export function isSameStay(a: BandStay | null, b: BandStay | null): boolean {
  return a?.index === b?.index && a?.sinceMs === b?.sinceMs;
}

function isClearOf(percent: number, index: number, edges: readonly number[]): boolean {
  const edge = edges[index - 1] ?? 0;
  const width = edge - (edges[index - 2] ?? 0);
  return percent < edge - Math.min(wobble, width / 2);
}

type NotAccepted = 'ended' | 'unknown' | 'waiting' | 'limited' | 'handoff' | 'context-unknown' | 'band';

interface Admission {
  accept: boolean;
  /** Where the context is known. */
  band: number | null;
  reason: NotAccepted | null;
  handoff: 'none' | 'advised' | 'required' | 'running';
}

/** In these it takes nothing, whatever its context. */
const closed: Partial<Record<State, NotAccepted>> = {
  ended: 'ended',
  unknown: 'unknown',
  waiting: 'waiting',
  limited: 'limited',
};

/** May this agent be given a task of this size now? */
export function admit(
  state: State,
  percent: number | null,
  size: TaskSize,
  edges: readonly number[],
  isHandedOver = false,
): Admission {
  const band = percent === null ? null : bandOf(percent, edges);
  const handoff = isHandedOver ? 'running' : band === null ? 'none' : handoffFor(band, size);
  const not = closed[state] ?? (isHandedOver ? 'handoff' : band === null ? 'context-unknown' : null);
  if (band === null || not !== null) return { accept: false, band, reason: not, handoff };
  const accept = sizes[size] <= sizes[bandRule(band).accepts];
  return { accept, band, reason: accept ? null : 'band', handoff };
}

function handoffFor(band: number, size: TaskSize): Admission['handoff'] {
  const { accepts } = bandRule(band);
  if (accepts === 'none') return 'required';
  return accepts === 'tiny' || sizes[size] > sizes[accepts] ? 'advised' : 'none';
}
