import type { ProcessId } from './world.ts';

/** Who looks after one agent's process: nobody else does anything to it, or calls people about it. */
export interface Hold {
  agent: ProcessId;
  holder: ProcessId;
  /** The holder's data directory. */
  home: string;
  /** Who may only tell people gives way to somebody who may also act. */
  does: 'act' | 'tell';
  /** Grows with every change of hands. */
  number: number;
  /** On this boot's clock that never jumps; null: given back. */
  renewedMs: number | null;
}

/** `none`: nobody has it, or nobody can know who has. */
export type HoldStanding = 'ours' | 'elsewhere' | 'none';

export function processName({ pid, startTicks, bootId }: ProcessId): string {
  return `${pid}-${startTicks}-${bootId}`;
}
