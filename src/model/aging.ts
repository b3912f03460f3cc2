/** What the wall clock said after so much time had passed on the clock that nobody can set. */
export interface ClockMark {
  /** Since the first mark: as long as the machine was on. */
  passedMs: number;
  atMs: number;
  bootId: string;
  /** Since that boot, sleep included. */
  bootMs: number;
}

/** Kinds of rows that go when they are too old. The ledger goes by a door of its own. */
export const agingRows = [
  'events',
  'points',
  'checks',
  'spawns',
  'handoffs',
  'sessions',
  'incidents',
  'scores',
  'ledger',
  'agents',
] as const;
export type AgingRows = (typeof agingRows)[number];
