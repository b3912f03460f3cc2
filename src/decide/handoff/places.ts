/** What handoffs share that should not all be in one at the same time. */
export interface Place {
  project: string;
  /** The client's config directory: agents that share it share an account and its allowance. */
  account: string | null;
  /** Where a recipe's file is: of two agents that write there nobody could tell whose it is. null: its own file. */
  shared: string | null;
  /** Cleared, cannot be told, and a human knows: the others do not wait for it, but for its file they do. */
  isLeft: boolean;
}

/** May one more run, in this project and on this account? `taken`: those that run now. */
export function hasPlace({ project, account, shared }: Place, taken: readonly Place[], parallelMax: number): boolean {
  if (shared !== null && taken.some((other) => other.shared === shared)) return false;
  const running = taken.filter((other) => !other.isLeft);
  const inProject = running.filter((other) => other.project === project).length;
  const onAccount = running.filter((other) => other.account === account).length;
  return inProject < parallelMax && onAccount < parallelMax;
}
