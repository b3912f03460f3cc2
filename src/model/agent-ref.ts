/** Which agent: a name means one only together with its host. */
export interface AgentRef {
  /** The host's id, as its rows have it. */
  host: string;
  name: string;
}
