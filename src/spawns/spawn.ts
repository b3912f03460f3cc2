import { failureAtEnd } from '../detect/last-line.ts';
import { type Quiet, tellQuiet } from '../detect/quiet.ts';
import type { SpawnState } from '../detect/spawn-findings.ts';
import { judgeSpawn, type SpawnLimits } from '../detect/spawns.ts';
import type { Sighting } from '../model/agent.ts';
import type { SpawnEnd, SpawnRow, SpawnStatus } from '../model/spawn.ts';
import { shown, untrusted } from '../model/text.ts';
import type { OutputGlance, Outputs } from '../sense/outputs.ts';

export interface SpawnInstant {
  nowMs: number;
  monotonicMs: number;
  limits: SpawnLimits;
}

/** Does the work of one session of an agent go on in another? null: that is yet to be known. */
export type IsSameWork = (agent: string, from: string, to: string) => boolean | null;

interface Surroundings {
  parent: Sighting | null;
  isSameWork: IsSameWork;
  glance: (path: string) => OutputGlance;
  outputs: Outputs;
  sharedWith: string[];
}

const problems: Record<string, string> = {
  missing: 'its output file is not there',
  link: 'its output file is a link, which is not followed',
  'not-regular': 'its output file is no regular file',
  foreign: 'its output file belongs to another user',
};

const lineCharsMax = 200;

/** One spawn under watch. */
export class Spawn {
  row: SpawnRow;
  end: SpawnEnd | null;
  /** By its own record it runs a tool, or waits for the permission to. */
  callOpen = false;
  /** It failed and nobody was told yet. */
  untold = false;
  orphan: SpawnState['orphan'] = null;
  quietMs = 0;
  problem: string | null = null;
  /** How the row was last written. */
  written: { text: string; atMonotonicMs: number } | null = null;
  readonly #outputs: { path: string; quiet: Quiet | null }[] = [];
  readonly #firstQuietMs: number;
  #age: { ms: number; monotonicMs: number } | null = null;
  #waitedMonotonicMs: number | null = null;
  #answeredMonotonicMs: number | null = null;
  #ending: { stamp: string; line: string | null } | null = null;

  /** `firstQuietMs`: how long it had been quiet when an earlier run last looked, where nothing else tells. */
  constructor(row: SpawnRow, end: SpawnEnd | null, firstQuietMs: number) {
    this.row = row;
    this.end = end;
    this.#firstQuietMs = firstQuietMs;
    if (row.output !== null) this.watchOutput(row.output);
  }

  /** A cleared parent moves the record of a subagent: then both places count. */
  watchOutput(path: string): void {
    if (!this.#outputs.some((output) => output.path === path)) this.#outputs.push({ path, quiet: null });
  }

  get watched(): readonly { path: string }[] {
    return this.#outputs;
  }

  /** Its parent was asked about it, and said something. */
  answered(monotonicMs: number): void {
    this.#answeredMonotonicMs = monotonicMs;
  }

  get isOver(): boolean {
    return this.end !== null;
  }

  /** Looks, judges, and says what its status was before. */
  look(moment: SpawnInstant, around: Surroundings): SpawnStatus {
    const before = this.row.status;
    this.#age ??= { ms: Math.max(0, moment.nowMs - this.row.spawnedAtMs), monotonicMs: moment.monotonicMs };
    this.#findParent(around, moment.nowMs);
    if (this.end === null) this.#lookAtOutputs(moment, around);
    const waiting = this.#isWaiting(around.parent, moment);
    const verdict = judgeSpawn(
      {
        end: this.end,
        visible: this.#outputs.length > 0,
        problem: this.problem,
        quietMs: this.quietMs,
        failureLine: this.#ending?.line ?? null,
        waiting,
        lost: this.row.source === 'client' && this.row.taskType === 'subagent' && this.orphan?.how === 'ended',
        sharedWith: around.sharedWith,
      },
      moment.limits,
    );
    this.row = {
      ...this.row,
      status: verdict.status,
      reason: verdict.reason === null ? null : shown(verdict.reason, 1_000),
      endedAtMs: this.end?.atMs ?? null,
    };
    return before;
  }

  /** What other programs put in belongs to no host: it is a matter of whoever looks. */
  state(host: string): SpawnState {
    const { agent, project, sessionId, taskId, taskType, label, source, status, reason, output, endedAtMs } = this.row;
    const { quietMs, untold, orphan } = this;
    return {
      ...{
        host: this.row.host ?? host,
        agent,
        project,
        sessionId,
        taskId,
        taskType,
        label,
        source,
        status,
        reason,
        output,
        endedAtMs,
      },
      ...{ row: this.row.id, quietMs, untold, orphan },
      failureLine: this.#ending?.line ?? null,
      stopped: this.end?.how === 'stopped',
    };
  }

  #findParent({ parent, isSameWork }: Surroundings, nowMs: number): void {
    const { agent, sessionId } = this.row;
    const to = parent?.sessionId ?? null;
    const isLeft = agent !== null && sessionId !== null && to !== null && to !== sessionId;
    const goesOn = isLeft ? isSameWork(agent, sessionId, to) : true;
    // What runs, and what failed without anybody knowing, belongs to the session that its parent was handed over to.
    if (isLeft && goesOn === true && (!this.isOver || this.untold)) this.row = { ...this.row, sessionId: to };
    const isEnded = agent !== null && (parent === null || parent.reading.state === 'ended');
    const how = isEnded ? 'ended' : goesOn === false ? 'cleared' : null;
    if (how === null) this.orphan = null;
    else if (this.orphan?.how !== how) this.orphan = { how, sinceMs: nowMs };
  }

  #lookAtOutputs(moment: SpawnInstant, around: Surroundings): void {
    const { nowMs, monotonicMs } = moment;
    const seen = this.#outputs.map((output) => {
      const glance = around.glance(output.path);
      const stamp = output.quiet?.stamp ?? null;
      output.quiet = tellQuiet(output.quiet, { ...glance, nowMs, monotonicMs }, this.#firstQuietMs);
      return { path: output.path, glance, quietMs: output.quiet.quietMs, grew: output.quiet.stamp !== stamp };
    });
    const age = (this.#age?.ms ?? 0) + monotonicMs - (this.#age?.monotonicMs ?? monotonicMs);
    const best =
      seen.filter(({ glance }) => glance.problem === null).sort((a, b) => a.quietMs - b.quietMs)[0] ?? seen[0];
    if (best === undefined) {
      // Nothing to look at: what passed while nobody watched says nothing about it.
      const watchedMs = this.#firstQuietMs + monotonicMs - (this.#age?.monotonicMs ?? monotonicMs);
      this.quietMs = Math.min(watchedMs, monotonicMs - (this.#answeredMonotonicMs ?? Number.NEGATIVE_INFINITY));
      return;
    }
    this.problem = best.glance.problem === null ? null : (problems[best.glance.problem] ?? best.glance.problem);
    // What was in the file before it began is no sign of it, and no silence either.
    this.quietMs = Math.min(best.quietMs, age);
    this.#readEnding(best.path, best.glance, around.outputs);
    const changedMs = best.grew ? Math.round(Math.min(best.glance.changedMs ?? nowMs, nowMs)) : this.row.lastOutputMs;
    this.row = { ...this.row, output: best.path, lastOutputMs: changedMs };
  }

  /** Only of what somebody tracks: the client itself tells how its own work ended. */
  #readEnding(path: string, glance: OutputGlance, outputs: Outputs): void {
    if (this.row.source === 'client' || glance.stamp === null || glance.stamp === this.#ending?.stamp) return;
    const line = failureAtEnd(outputs.tail(path) ?? untrusted(''));
    this.#ending = { stamp: glance.stamp, line: line === null ? null : shown(line, lineCharsMax) };
  }

  /** A dialog holds it up, not itself: that time does not count. */
  #isWaiting(parent: Sighting | null, moment: SpawnInstant): boolean {
    const waiting = this.callOpen && this.end === null && parent?.reading.state === 'waiting';
    if (waiting) this.#waitedMonotonicMs = moment.monotonicMs;
    if (this.#waitedMonotonicMs !== null)
      this.quietMs = Math.min(this.quietMs, moment.monotonicMs - this.#waitedMonotonicMs);
    return waiting;
  }
}
