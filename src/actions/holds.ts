import { claimed, isOwn, renewMs, stands } from '../decide/hold.ts';
import type { Mode, Sighting } from '../model/agent.ts';
import { type Hold, type HoldStanding, processName } from '../model/hold.ts';
import type { ProcessId } from '../model/world.ts';
import type { HoldFiles } from '../record/hold-files.ts';

export interface HoldsParts {
  files: HoldFiles;
  /** null: processes cannot be told apart here. */
  self: ProcessId | null;
  home: string;
  /** The same in all processes of this boot. */
  bootMs: () => number;
  isAlive: (process: ProcessId) => boolean;
  mode: () => Mode;
  paused: () => boolean;
  /** For whoever looks on. */
  notice: (line: string) => void;
}

/** What was last seen of the hold on one agent. */
interface Seen {
  view: Sighting;
  by: 'us' | 'other' | 'nobody';
  hold: Hold | null;
  /** Why nobody can have it. */
  problem: string | null;
}

export type HoldDocument = ReturnType<Holds['document']>;

const cleanEveryMs = 600_000;

/**
 * One supervisor for each agent process of this user, whatever the data directories and databases: the hold is taken
 * before anything is done to an agent, looked at again before every key, and renewed while the daemon runs.
 */
export class Holds {
  readonly #parts: HoldsParts;
  readonly #seen = new Map<string, Seen>();
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #taken: (view: Sighting) => void = () => {};
  #cleanedMs = Number.NEGATIVE_INFINITY;
  #problem: string | null = null;
  /** At this look, from one who did not give it back. */
  #isTaken = false;

  constructor(parts: HoldsParts) {
    this.#parts = parts;
  }

  /** Hears of what is taken from one who did not give it back: what that one has on its way may not arrive any more. */
  onTaken(taken: (view: Sighting) => void): void {
    this.#taken = taken;
  }

  /** Apart from the passes, which a tmux server can hold up. */
  start(): void {
    this.#timer = setInterval(() => {
      if ([...this.#seen.values()].some(({ by }) => by === 'us')) this.#renew();
    }, renewMs / 2).unref();
  }

  /** Takes what may be taken. Those that another one had until now: what it did about them is still to be read. */
  round(views: readonly Sighting[]): string[] {
    const gained = views.filter((view) => this.isElsewhere(view.agent) && this.#look(view).by === 'us');
    for (const view of views) if (!gained.includes(view)) this.#look(view);
    const shown = new Set(views.map(({ agent }) => agent));
    for (const [name, seen] of this.#seen) {
      if (shown.has(name)) continue;
      this.#giveBack(seen);
      this.#seen.delete(name);
    }
    if (this.#parts.bootMs() - this.#cleanedMs > cleanEveryMs) {
      this.#cleanedMs = this.#parts.bootMs();
      this.#parts.files.clean(this.#parts.isAlive);
    }
    return gained.map(({ agent }) => agent);
  }

  /** As it is in this moment; what is free is taken. */
  standing(view: Sighting): HoldStanding {
    const { by } = this.#look(view);
    return by === 'us' ? 'ours' : by === 'other' ? 'elsewhere' : 'none';
  }

  /** The number under which it is ours in this moment; null: it is not. */
  number(view: Sighting): number | null {
    const { by, hold } = this.#look(view);
    return by === 'us' ? (hold?.number ?? null) : null;
  }

  /** As of the last look. */
  isElsewhere(agent: string | null): boolean {
    return agent !== null && this.#seen.get(agent)?.by === 'other';
  }

  document(agent: string) {
    const seen = this.#seen.get(agent);
    const hold = seen === undefined || seen.by === 'nobody' ? null : seen.hold;
    return {
      by: seen?.by ?? 'nobody',
      pid: hold?.holder.pid ?? null,
      home: hold?.home ?? null,
      number: hold?.number ?? null,
      problem: seen?.problem ?? null,
    };
  }

  /** Those `typing` to are left to whoever finds this process dead: a key may still be on its way. */
  close(typing: ReadonlySet<string>): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const [name, seen] of this.#seen) if (!typing.has(name)) this.#giveBack(seen);
  }

  #look(view: Sighting): Seen {
    const before = this.#seen.get(view.agent);
    const isSame = before !== undefined && processName(before.view.process) === processName(view.process);
    const now = { view, ...this.#find(view, isSame ? before : null) };
    this.#seen.set(view.agent, now);
    this.#tell(isSame ? before.by : 'nobody', now);
    const isTaken = this.#isTaken;
    // First: whoever hears of it looks again.
    this.#isTaken = false;
    if (isTaken) this.#taken(view);
    return now;
  }

  #find(view: Sighting, before: Seen | null): Omit<Seen, 'view'> {
    const { files, self, home } = this.#parts;
    const nobody = (problem: string | null) => ({ by: 'nobody' as const, hold: null, problem });
    if (this.#isClosed || self === null) return nobody('this daemon holds nobody');
    const usable = files.check();
    if (!usable.ok) return nobody(`${usable.message}: ${usable.fix}`);
    const found = files.read(view.process);
    const facts = this.#facts(view.process);
    const isOurs = found !== null && found.renewedMs !== null && isOwn(found, { holder: self, home });
    const us = (hold: Hold) => ({ by: 'us' as const, hold, problem: null });
    const other = (hold: Hold | null, problem: string | null = null) => ({ by: 'other' as const, hold, problem });
    const does = this.#wants(view, isOurs);
    if (view.reading.state === 'ended') {
      if (isOurs) return us(found);
      // Who had it and went in good order has told of this end.
      if (before?.by === 'other' && (found === null || found.renewedMs === null)) return other(before.hold);
    }
    if (does === null) {
      if (isOurs) this.#release(view.process);
      return found !== null && !isOurs && stands(found, facts) ? other(found) : nobody(null);
    }
    if (isOurs && found.does === does) {
      if (facts.nowMs - (found.renewedMs ?? 0) >= renewMs) this.#renew();
      return us(found);
    }
    const wish = { agent: bare(view.process), holder: self, home, does };
    if (found !== null && claimed(found, wish, facts) === null) return other(found);
    const taken = files.change(view.process, (now) => {
      const mine = claimed(now, wish, this.#facts(view.process));
      this.#isTaken = mine !== null && now !== null && now.renewedMs !== null && now.number !== mine.number;
      return mine;
    });
    if (taken.ok) return taken.value === null ? other(files.read(view.process)) : us(taken.value);
    if (taken.reason === 'unusable') return nobody(`${taken.message}: ${taken.fix}`);
    return isOurs ? us(found) : other(found, taken.message);
  }

  /** What it is wanted for; null: not at all. A pause of whoever has it holds for all. */
  #wants({ authority, reading }: Sighting, isOurs: boolean): Hold['does'] | null {
    if (this.#parts.mode() !== 'act' || (!isOurs && this.#parts.paused())) return null;
    return authority === 'observe' || reading.state === 'ended' ? 'tell' : 'act';
  }

  /** All that it holds, at once. */
  #renew(): void {
    const { files, self, bootMs } = this.#parts;
    if (self !== null) files.renew(self, bootMs());
  }

  #facts(agent: ProcessId) {
    const { bootMs, isAlive } = this.#parts;
    return {
      nowMs: bootMs(),
      isHolderAlive: (hold: Hold) => isAlive(hold.holder),
      isAgentAlive: () => isAlive(agent),
    };
  }

  #giveBack({ by, view }: Seen): void {
    if (by !== 'us') return;
    if (this.#parts.isAlive(view.process)) this.#release(view.process);
    else this.#parts.files.remove(view.process);
  }

  #release(agent: ProcessId): void {
    const { files, self, home } = this.#parts;
    files.change(agent, (found) =>
      found !== null && self !== null && isOwn(found, { holder: self, home }) ? { ...found, renewedMs: null } : null,
    );
  }

  /** Once for each change. */
  #tell(before: Seen['by'], { view, by, hold, problem }: Seen): void {
    const { notice } = this.#parts;
    if (by === 'other' && before !== 'other') {
      const who = hold === null ? 'somebody' : `pid ${hold.holder.pid}, data in ${hold.home}`;
      notice(`${view.agent} is held by another Watchkeeper (${who}): it is only observed`);
    } else if (by === 'us' && before === 'other') notice(`${view.agent} is held by nobody else any more`);
    if (problem !== null && by === 'nobody' && problem !== this.#problem && !this.#isClosed)
      notice(`nothing is done to any agent, because it cannot be known which Watchkeeper looks after it: ${problem}`);
    this.#problem = by === 'nobody' ? problem : null;
  }
}

function bare({ bootId, pid, startTicks }: ProcessId): ProcessId {
  return { bootId, pid, startTicks };
}
