/** What handoffs share that should not all be in one at the same time. */
export interface Place {
  project: string;
  /** The client's config directory: agents that share it share an account and its allowance. */
  account: string | null;
}

/** May one more run, in this project and on this account? `taken`: those that run now. */
export function hasPlace({ project, account }: Place, taken: readonly Place[], parallelMax: number): boolean {
  const inProject = taken.filter((other) => other.project === project).length;
  const onAccount = taken.filter((other) => other.account === account).length;
  return inProject < parallelMax && onAccount < parallelMax;
}
