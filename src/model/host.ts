/** A host as its rows name it: one data directory on one machine. */
export interface HostEntry {
  id: string;
  /** What people call the machine; it may change. */
  name: string;
  /** Two on one machine have the same; null: the machine has no id. */
  machine: string | null;
  /** Its data directory is a copy of that one's. */
  copyOf: string | null;
}

export interface HostStanding {
  /** Nothing of it is on record yet. */
  isFirst: boolean;
}
