-- Troubles from their first finding until they are over, and what a person said an agent may be done to.

CREATE TABLE incidents (
  id uuid PRIMARY KEY,
  agent_id bigint NOT NULL REFERENCES agents ON DELETE CASCADE,
  check_name text NOT NULL,
  severity text NOT NULL,
  text text NOT NULL,
  opened_at timestamptz NOT NULL,
  closed_at timestamptz,
  acked_at timestamptz,
  prompts integer NOT NULL DEFAULT 0,
  last_prompt_at timestamptz,
  tells integer NOT NULL DEFAULT 0,
  last_tell_at timestamptz
);
CREATE INDEX incidents_open ON incidents (agent_id) WHERE closed_at IS NULL;

CREATE TABLE authority_overrides (
  host text NOT NULL,
  agent text NOT NULL,
  authority text NOT NULL CHECK (authority IN ('observe', 'nudge', 'manage')),
  set_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (host, agent)
);

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON incidents, authority_overrides TO watchkeeper;
  END IF;
END $$;
