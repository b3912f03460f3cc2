import type { Check, CheckVerdict, HealthCheck, LoopCheck, TrendCheck } from './check.ts';
import type { Persistence } from './hold.ts';
import type { LoopTrouble } from './loops/watch.ts';

/** How a check looks at one agent at one moment, whatever it judges by. */
export type LiveLook = Pick<HealthCheck, 'name' | 'hold' | 'look'>;

const confidence = 0.8;
/** A step that leads out of it may be on its way; one step out and back in again is the same loop. */
const hold: Persistence = { readings: 2, forMs: 2_000, keepMs: 10_000 };

/** null: it is found by whoever holds what it is about. */
export function liveLook(check: Check): LiveLook | null {
  switch (check.by) {
    case 'look':
      return check;
    case 'steps':
      return lookAtSteps(check);
    case 'past':
      return lookAtPast(check);
    case 'outside':
      return null;
  }
}

/** From the agent's own record, while it is at work: an agent at its prompt is lost no more. */
function lookAtSteps({ name }: LoopCheck): LiveLook {
  return {
    name,
    hold,
    look({ view, loops }) {
      const { state } = view.reading;
      if (state !== 'working' && state !== 'retrying') return { fine: `it is ${state}` };
      const trouble = loops.find(({ check }) => check === name);
      return trouble === undefined ? { fine: 'its steps bring something new' } : found(trouble, confidence);
    },
  };
}

/** Those of a turn are over with it; those of a session are there at the prompt too. */
function lookAtPast({ name, confidence: sure, lasts }: TrendCheck): LiveLook {
  return {
    name,
    hold,
    look({ view, loops }) {
      const { state } = view.reading;
      const here =
        lasts === 'turn' ? state === 'working' || state === 'retrying' : state !== 'ended' && state !== 'unknown';
      if (!here) return { fine: `it is ${state}` };
      const trouble = loops.find(({ check }) => check === name);
      return trouble === undefined ? { fine: 'it is as it was before' } : found(trouble, sure);
    },
  };
}

function found({ sinceMs, atMs, text }: LoopTrouble, sure: number): CheckVerdict {
  const evidence = [{ source: 'transcript' as const, atMs, text }];
  return { found: { severity: 'warning', confidence: sure, sinceMs, evidence, action: null } };
}
