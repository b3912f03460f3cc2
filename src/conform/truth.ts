// What an agent really does, as the model server, the keys and the screen have it, against what Watchkeeper said meanwhile.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { askControl } from '../daemon/control.ts';
import type { AgentDocument, StatusDocument } from '../daemon/status.ts';
import { steps, type TrialStep } from './steps.ts';

interface Stretch {
  /** null: nothing definite; what is said then does not count. */
  step: TrialStep | null;
  label: string | null;
  fromMs: number;
}

/** What one source said while the client was in one step for good: how often each word; null: nothing. */
export interface Heard {
  step: TrialStep | 'context';
  source: string;
  words: Map<string | null, number>;
}

interface Sample {
  askedMs: number;
  /** When the answer was here; it is of some moment in between. */
  atMs: number;
  fused: string;
  source: string;
  /** By source: what it says alone; null: it says nothing. */
  alone: Map<string, string | null>;
  /** By source: the tokens in use. */
  used: Map<string, number | null>;
}

/** A word counts as right if it was true at some moment of the two seconds before it was asked for, or since. */
const lagMs = 2_000;
const sampleEveryMs = 200;
/** A source alone is listened to from here on: before, it may be late like all of them together. */
const settledMs = 1_500;

export interface SourceScore {
  samples: number;
  right: number;
  unknown: number;
  /** Said to be typable, or dead, for longer than the lag while the truth forbade it. */
  dangerous: string[];
  wrong: string[];
  /** By source: how often it said anything, and how often that was right. */
  alone: Map<string, { said: number; right: number }>;
  /** What was never told besides the states. */
  missed: string[];
  /** From each change of the truth to the first right word. */
  lags: { label: string; ms: number; source: string }[];
}

export class Truth {
  readonly agent: string;
  readonly #stretches: Stretch[] = [];
  readonly #samples: Sample[] = [];
  readonly #missed: string[] = [];
  readonly #typed: number[] = [];
  readonly #uses: { used: number | null; fromMs: number }[] = [];
  readonly #began: (step: TrialStep) => void;

  constructor(agent: string, began: (step: TrialStep) => void) {
    this.agent = agent;
    this.#began = began;
  }

  /** From this moment on; `tool`: that runs then, by the client's name for it. */
  is(step: TrialStep | null, atMs = Date.now(), tool: string | null = null): void {
    const word = step === null ? null : `${steps[step]}${tool === null ? '' : ` ${tool}`}`;
    this.#stretches.push({ step, label: word, fromMs: atMs });
    if (step !== null) this.#began(step);
  }

  /** The context in use, as the model has told it; null: nothing definite. */
  uses(used: number | null): void {
    this.#uses.push({ used, fromMs: Date.now() });
  }

  /** Keys that will change it are on their way. */
  typing(): void {
    this.#typed.push(Date.now());
  }

  misses(what: string): void {
    this.#missed.push(what);
  }

  take(status: StatusDocument, askedMs: number, atMs: number): void {
    const agent = status.agents.find((candidate) => candidate.agent === this.agent);
    if (agent === undefined || this.#stretches.length === 0) return;
    const alone = agent.sources.map(
      ({ source, alone: said }) => [source, said === null ? null : label(said.state, said.detail, said.tool)] as const,
    );
    const fused = label(agent.state, agent.detail, agent.tool);
    const used = new Map(agent.context_sources.map(({ source, used }) => [source, used]));
    this.#samples.push({ askedMs, atMs, fused, source: agent.source, alone: new Map(alone), used });
  }

  score(): SourceScore {
    const score: SourceScore = {
      samples: 0,
      right: 0,
      unknown: 0,
      dangerous: [],
      wrong: [],
      alone: new Map(),
      missed: this.#missed,
      lags: [],
    };
    for (const sample of this.#samples) this.#count(sample, score);
    this.#stretches.forEach((stretch, index) => {
      const lag = this.#lag(stretch, this.#stretches[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY);
      if (lag !== null) score.lags.push(lag);
    });
    return score;
  }

  /** Source by source, without the moments around a change. */
  heard(): Heard[] {
    const heard: Heard[] = [];
    const stretches = this.#stretches.map(({ step, fromMs }) => ({ what: step, fromMs }));
    for (const { what, samples } of this.#settled(stretches)) {
      const sources = new Set(samples.flatMap(({ alone }) => [...alone.keys()]));
      for (const source of sources)
        heard.push({ step: what, source, words: countWords(samples.map(({ alone }) => alone.get(source) ?? null)) });
    }
    const uses = this.#uses.map(({ used, fromMs }) => ({ what: used, fromMs }));
    for (const { what, samples } of this.#settled(uses)) {
      for (const source of ['transcript', 'statusline']) {
        const said = samples.map(({ used }) => used.get(source) ?? null);
        const words = said.map((used) => (used === null ? null : used === what ? 'right' : `${used}, not ${what}`));
        heard.push({ step: 'context', source, words: countWords(words) });
      }
    }
    return heard;
  }

  #settled<T>(stretches: { what: T; fromMs: number }[]): { what: NonNullable<T>; samples: Sample[] }[] {
    return stretches.flatMap(({ what, fromMs }, index) => {
      if (what === null || what === undefined) return [];
      const endMs = stretches[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      const typedMs = this.#typed.find((atMs) => atMs >= fromMs) ?? Number.POSITIVE_INFINITY;
      const samples = this.#samples.filter(
        ({ askedMs, atMs }) => askedMs >= fromMs + settledMs && atMs < Math.min(endMs, typedMs),
      );
      return samples.length === 0 ? [] : [{ what, samples }];
    });
  }

  #count(sample: Sample, score: SourceScore): void {
    const true_ = this.#labelsWithin(sample.askedMs - lagMs, sample.atMs);
    if (true_ === null) return;
    score.samples += 1;
    const right = true_.has(sample.fused);
    if (right) score.right += 1;
    if (sample.fused.startsWith('unknown')) score.unknown += 1;
    if (!right) {
      const what = `${sample.fused} (${sample.source}) while ${[...true_].join(' or ')}`;
      score.wrong.push(what);
      if ([...true_].every((label) => isWorseThanWrong(sample.fused, label)))
        score.dangerous.push(`${what}, for ${sample.askedMs - this.#sinceMs(sample.askedMs)} ms`);
    }
    for (const [source, said] of sample.alone) {
      const counts = score.alone.get(source) ?? { said: 0, right: 0 };
      score.alone.set(source, counts);
      if (said === null) continue;
      counts.said += 1;
      if (true_.has(said)) counts.right += 1;
    }
  }

  /** Since when what is true at this moment is. */
  #sinceMs(atMs: number): number {
    return this.#stretches.findLast(({ fromMs }) => fromMs <= atMs)?.fromMs ?? atMs;
  }

  /** What was true at some moment in between; null where a part of it is not definite. */
  #labelsWithin(fromMs: number, toMs: number): Set<string> | null {
    const labels = new Set<string>();
    this.#stretches.forEach((stretch, index) => {
      const endMs = this.#stretches[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      if (stretch.fromMs <= toMs && endMs > fromMs) labels.add(stretch.label ?? '');
    });
    return labels.size === 0 || labels.has('') ? null : labels;
  }

  #lag({ label: wanted, fromMs }: Stretch, toMs: number): SourceScore['lags'][number] | null {
    // Shorter than the lag: gone before anybody has to have seen it.
    if (wanted === null || toMs - fromMs < lagMs) return null;
    const seen = this.#samples.find(({ atMs, fused }) => atMs >= fromMs && atMs < toMs && fused === wanted);
    return {
      label: wanted,
      ms: seen === undefined ? Number.POSITIVE_INFINITY : seen.atMs - fromMs,
      source: seen?.source ?? '-',
    };
  }
}

/** Does the wrong word allow typing or taking it for dead where the truth forbids it? */
function isWorseThanWrong(said: string, truth: string): boolean {
  const typable = /^(idle|working|retrying|compacting|limited)/.test(said);
  const closed = /^(waiting|ended|unknown)/.test(truth);
  return (typable && closed) || (said === 'ended' && truth !== 'ended');
}

/** Asks the daemon a few times a second what it thinks of these agents. */
export class Sampler {
  readonly #socket: string;
  readonly #truths: Truth[] = [];
  readonly #began: (agent: string, step: TrialStep) => void;
  #timer: NodeJS.Timeout | null = null;
  #asking = false;
  #clientVersion: string | null = null;

  /** `began` is told of every step an agent enters. */
  constructor(watchkeeperHome: string, began: (agent: string, step: TrialStep) => void = () => {}) {
    this.#began = began;
    const daemon = JSON.parse(readFileSync(path.join(watchkeeperHome, 'daemon.json'), 'utf8'));
    this.#socket = daemon.sockets.control;
    this.#timer = setInterval(() => void this.#sample(), sampleEveryMs);
  }

  follow(agent: string): Truth {
    const known = this.#truths.find((truth) => truth.agent === agent);
    if (known !== undefined) return known;
    const truth = new Truth(agent, (step) => this.#began(agent, step));
    this.#truths.push(truth);
    return truth;
  }

  scores(): { agent: string; score: SourceScore }[] {
    return this.#truths.map((truth) => ({ agent: truth.agent, score: truth.score() }));
  }

  /** As the agents themselves told it; null: they did not. */
  clientVersion(): string | null {
    return this.#clientVersion;
  }

  /** What was heard of the agents whose name begins so. */
  heard(prefix: string): Heard[] {
    return this.#truths.filter(({ agent }) => agent.startsWith(prefix)).flatMap((truth) => truth.heard());
  }

  async agent(name: string): Promise<AgentDocument | null> {
    const status = await askControl(this.#socket, { ask: 'status' }, 2_000);
    return status.ok ? (status.value.agents.find(({ agent }) => agent === name) ?? null) : null;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #sample(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const askedMs = Date.now();
    const status = await askControl(this.#socket, { ask: 'status' }, 2_000);
    const atMs = Date.now();
    if (status.ok) {
      for (const truth of this.#truths) truth.take(status.value, askedMs, atMs);
      this.#clientVersion ??=
        status.value.agents.find((agent) => agent.client_version !== null)?.client_version ?? null;
    }
    this.#asking = false;
  }
}

/** `working/tool NAME`, as the tables have it. */
function label(state: string, detail: string | null, tool: string | null): string {
  return `${state}${detail === null ? '' : `/${detail}`}${tool === null || detail !== 'tool' ? '' : ` ${tool}`}`;
}

function countWords(said: (string | null)[]): Map<string | null, number> {
  const words = new Map<string | null, number>();
  for (const word of said) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}
