/** Which agent: a name means one only together with its host. So it stands in all that is seen, found, done and recorded. */
export interface AgentRef {
  /** The host's id, as its rows have it. Documents have what people call it. */
  readonly host: string;
  /** Its name. */
  readonly agent: string;
}

/** An agent, or with null the host itself, where no agent is concerned. */
export interface AgentOrHost {
  readonly host: string;
  readonly agent: string | null;
}
