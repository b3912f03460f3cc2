import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type JobResult, type PartOptions, type ReplayJob, type ReplayPart, replayPart } from './part.ts';

/** Each thread compiles the program for itself: for less than that, it is not worth it. */
const bytesPerThread = 128 * 1024 * 1024;
/** What was said out of turn is held; beyond that no further record is begun. */
const heldCharsMax = 32 * 1024 * 1024;

export interface ReplayTaker {
  part(job: ReplayJob, part: ReplayPart): void;
  /** False: no more of them. */
  done(job: ReplayJob, result: JobResult): boolean;
}

/** Of a hundred megabytes a quarter of the CPU time was the compiler's: where less is inlined it has less to do, and the code is as fast. */
const lessInlining = '--max-inlined-bytecode-size-cumulative=150';

/** All records, by as many threads as they are worth; what they say comes in the order of the records. */
export async function replayJobs(jobs: readonly ReplayJob[], options: PartOptions, taker: ReplayTaker): Promise<void> {
  setFlagsFromString(lessInlining);
  const bytes = jobs.reduce((sum, job) => sum + job.bytes, 0);
  const threads = Math.min(jobs.length, availableParallelism(), Math.floor(bytes / bytesPerThread));
  if (threads > 1) return inThreads(threads, jobs, options, taker);
  for (const job of jobs) {
    const result = await replayPart(job, options, (part) => taker.part(job, part));
    if (!taker.done(job, result)) return;
  }
}

type Message = { part: ReplayPart } | { done: JobResult };

async function inThreads(
  threads: number,
  jobs: readonly ReplayJob[],
  options: PartOptions,
  taker: ReplayTaker,
): Promise<void> {
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./worker.js', import.meta.url), { workerData: options }),
  );
  const queue = new OrderedParts(jobs, taker);
  try {
    await new Promise<void>((resolve, reject) => {
      const idle: Worker[] = [];
      let next = 0;
      let running = 0;
      const handOut = () => {
        while (next < jobs.length && idle.length > 0 && (queue.heldChars < heldCharsMax || running === 0)) {
          const worker = idle.pop() as Worker;
          const place = next;
          next += 1;
          running += 1;
          worker.removeAllListeners('message');
          worker.on('message', (message: Message) => {
            if ('part' in message) queue.part(place, message.part);
            else {
              running -= 1;
              if (!queue.done(place, message.done) || queue.isOver) return resolve();
              idle.push(worker);
            }
            handOut();
          });
          worker.postMessage(jobs[place]);
        }
      };
      for (const worker of workers) worker.on('error', reject);
      idle.push(...workers);
      handOut();
    });
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** Passes on what the first unfinished record says, and holds what the others say until it is their turn. */
class OrderedParts {
  heldChars = 0;
  readonly #jobs: readonly ReplayJob[];
  readonly #taker: ReplayTaker;
  readonly #held = new Map<number, ReplayPart[]>();
  readonly #results = new Map<number, JobResult>();
  #head = 0;

  constructor(jobs: readonly ReplayJob[], taker: ReplayTaker) {
    this.#jobs = jobs;
    this.#taker = taker;
  }

  get isOver(): boolean {
    return this.#head >= this.#jobs.length;
  }

  part(place: number, part: ReplayPart): void {
    if (place === this.#head || 'read' in part) this.#taker.part(this.#jobs[place] as ReplayJob, part);
    else {
      this.heldChars += 'json' in part ? part.json.length : 0;
      this.#held.set(place, [...(this.#held.get(place) ?? []), part]);
    }
  }

  done(place: number, result: JobResult): boolean {
    this.#results.set(place, result);
    for (let first = this.#results.get(this.#head); first !== undefined; first = this.#results.get(this.#head)) {
      this.#results.delete(this.#head);
      if (!this.#taker.done(this.#jobs[this.#head] as ReplayJob, first)) return false;
      this.#head += 1;
      this.#release();
    }
    return true;
  }

  #release(): void {
    for (const part of this.#held.get(this.#head) ?? []) {
      this.heldChars -= 'json' in part ? part.json.length : 0;
      this.#taker.part(this.#jobs[this.#head] as ReplayJob, part);
    }
    this.#held.delete(this.#head);
  }
}
