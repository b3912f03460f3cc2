import type { Found, Sighting } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Ending, Verdict as EndingVerdict } from '../model/score.ts';
import type { Persistence } from './hold.ts';
import type { LoopFold, LoopLimits } from './loops/check.ts';
import type { LoopTrouble } from './loops/watch.ts';
import type { Own, Thresholds } from './thresholds.ts';
import type { TrendFold } from './trends/check.ts';

/** Everything there is to say of one check, in one place: how it judges, what may be done about it, and why. */
export interface CheckDefinition<N extends CheckName = CheckName, T extends Thresholds = Thresholds> {
  readonly name: N;
  /** Completes the name of whom it is about: "waits for you". */
  readonly title: string;
  /** What it looks at. */
  readonly evidence: string;
  readonly why: string;
  /** Whom it is about; of an agent where nothing is said. */
  readonly about?: 'host';
  /** When many agents have it at once, that is one trouble of the host. */
  readonly isShared?: true;
  /** By their keys in the configuration. */
  readonly thresholds: T;
  readonly ladder: Ladder;
  readonly worth: Worth;
}

/** What may be done about a trouble: so many prompts first, with growing pauses, then a human. */
export interface Ladder {
  readonly template: PromptTemplate | null;
  readonly promptsMax: number;
  /** A human: until somebody acknowledges, once, only where the agent cannot be prompted, or not at all. */
  readonly tells: 'repeat' | 'once' | 'instead' | 'never';
  /** Its prompt may go to an agent at its prompt; also while only background work runs; also in the middle of a turn. */
  readonly moment: 'idle' | 'turn-over' | 'any';
  /** What its prompt is there for; null: nothing is said to the agent. */
  readonly purpose: Purpose | null;
}

/** What a prompt about a trouble is there for, the most urgent first. */
export const purposes = ['sets-going', 'asks', 'notes'] as const;
type Purpose = (typeof purposes)[number];

export type PromptTemplate =
  | 'continue'
  | 'stalled'
  | 'spawn-stalled'
  | 'spawn-failed'
  | 'spawn-abandoned'
  | 'high-context';

/** People are told, and nothing is said to the agent. */
export const tells = (how: Ladder['tells']): Ladder => ({
  ...{ template: null, promptsMax: 0, tells: how, moment: 'idle', purpose: null },
});

/** Shown and recorded, nothing more. */
export const shownOnly: Ladder = tells('never');

/** What a check's findings are worth: whether they may be acted on, and how it shows afterwards that they were right. */
export interface Worth {
  readonly ground: Ground;
  /** In one sentence: when it was right. What cannot be known is `unclear`, never right. */
  readonly right: string;
  readonly verdicts: Partial<Record<Ending, EndingVerdict>>;
}

/**
 * Why a check may be acted on. A record is proof by itself; anything judged from the outside needs a precision of at
 * least 0.9 on runs it was not made with. What has neither is shown and recorded, and nobody acts on it.
 */
export type Ground =
  | { by: 'record'; why: string }
  | { by: 'measured'; measured: Measured }
  | { by: 'none'; why: string; measured: Measured | null };

/** As docs/reports/eval.md has it. */
interface Measured {
  /** The line of the report. */
  line: string;
  right: number;
  alarms: number;
  precision: number;
  interval: [number, number];
  /** Neither the rule nor its thresholds were made with these runs at hand. */
  untouched: boolean;
}

const anyEnding: Worth['verdicts'] = {
  'by-itself': 'right',
  'human-wrote': 'right',
  'human-interrupted': 'right',
  'human-answered': 'right',
  'human-acked': 'right',
  'prompt-helped': 'right',
  'other-prompt': 'right',
  failed: 'right',
  'agent-died': 'right',
  unseen: 'right',
};

/** What is shown as evidence is itself what the check claims: however it ends, it was so, unless a person denies it. */
export function onRecord(why: string, right: string): Worth {
  return { ground: { by: 'record', why }, right, verdicts: anyEnding };
}

/** What is away and comes back: flapping is found by the endings that nobody shows to be right. */
export function ofHost(why: string): Worth {
  const right = 'A person acknowledged it. Otherwise it is not known whether somebody mended it.';
  return { ground: { by: 'record', why }, right, verdicts: { 'human-acked': 'right' } };
}

export interface CheckInput {
  view: Sighting;
  nowMs: number;
  /** Since when a prompt of ours to an idle agent has had no reaction at all, and how long it may have none. */
  unansweredSinceMs: number | null;
  answerMs: number;
  /** What its own record shows of loops, errors and lost ways. */
  loops: readonly LoopTrouble[];
  /** What it has agreed to say when it is done, and whether it has in its last turn; null: nothing is agreed. */
  completion: { signal: string; said: boolean } | null;
  /** How much of the time since then nobody looked, for the machine slept or the supervisor stood still. */
  missedSince: (sinceMs: number) => number;
}

/** Trouble, or why there is none: both are worth knowing. */
export type CheckVerdict =
  | { found: Omit<Found, 'check' | 'subject' | 'slots'> & Partial<Pick<Found, 'slots'>> }
  /** `coming`: the trouble is there, only its time is not up. */
  | { fine: string; coming?: boolean };

/** A pure look at one agent at one moment. */
export interface HealthCheck<N extends CheckName = CheckName, T extends Thresholds = Thresholds>
  extends CheckDefinition<N, T> {
  readonly by: 'look';
  /** How it holds still, where that is not as usual. */
  readonly hold?: Persistence;
  look(input: CheckInput, limits: Own<T>): CheckVerdict;
}

/** Judges the steps of a run, one by one, live and on record. */
export interface LoopCheck<N extends CheckName = CheckName, T extends Thresholds = Thresholds>
  extends CheckDefinition<N, T> {
  readonly by: 'steps';
  start(limits: LoopLimits): LoopFold;
}

/** Compares a run with its own past, live and on record. */
export interface TrendCheck<N extends CheckName = CheckName, T extends Thresholds = Thresholds>
  extends CheckDefinition<N, T> {
  readonly by: 'past';
  readonly confidence: number;
  /** A trouble of the turn ends with it; one of the session is there at the prompt too. */
  readonly lasts: 'turn' | 'session';
  /** Asked anew each time: the configuration may change meanwhile. */
  start(limits: () => Own<T>): TrendFold;
}

/** Found by whoever holds what it is about: background work, handoffs, the host. */
export interface OutsideCheck<N extends CheckName = CheckName, T extends Thresholds = Thresholds>
  extends CheckDefinition<N, T> {
  readonly by: 'outside';
}

export type Check = HealthCheck | LoopCheck | TrendCheck | OutsideCheck;

// Each keeps name and thresholds as exact as they are written.
export const healthCheck = <N extends CheckName, T extends Thresholds>(
  check: Omit<HealthCheck<N, T>, 'by'>,
): HealthCheck<N, T> => ({ ...check, by: 'look' });
export const loopCheck = <N extends CheckName>(
  check: Omit<LoopCheck<N, typeof noThresholds>, 'by' | keyof typeof lostWay>,
): LoopCheck<N, typeof noThresholds> => ({ ...check, ...lostWay, by: 'steps' });
export const trendCheck = <N extends CheckName, T extends Thresholds>(
  check: Omit<TrendCheck<N, T>, 'by' | keyof typeof ofTrend>,
): TrendCheck<N, T> => ({ ...check, ...ofTrend, by: 'past' });
export const outsideCheck = <N extends CheckName, T extends Thresholds>(
  check: Omit<OutsideCheck<N, T>, 'by'>,
): OutsideCheck<N, T> => ({ ...check, by: 'outside' });

export const noThresholds = {} as const satisfies Thresholds;

const rightIfHelped = {
  right: 'A person stepped in. Of an agent that went on by itself it is not known whether it was lost.',
  verdicts: { 'human-wrote': 'right', 'human-interrupted': 'right' },
} as const;

/** How often each is right on runs it was not tuned on is in docs/reports/eval-thresholds.md; until that is enough, nobody acts on it. */
const lostWay = {
  thresholds: noThresholds,
  ladder: shownOnly,
  worth: {
    ground: {
      by: 'none',
      why: 'the rules were made from the same labelled runs; figures of all four checks of the family together',
      measured: { line: 'held out', right: 40, alarms: 41, precision: 0.98, interval: [0.87, 1], untouched: false },
    },
    ...rightIfHelped,
  } satisfies Worth,
};

const ofTrend = {
  ladder: shownOnly,
  worth: {
    ground: { by: 'none', why: 'no labelled run has this trouble', measured: null },
    ...rightIfHelped,
  } satisfies Worth,
};
