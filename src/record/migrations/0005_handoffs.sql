-- Handoffs: one row for each, one more for every step it takes, and the document that was verified.

CREATE TABLE handoffs (
  id uuid PRIMARY KEY,
  agent_id bigint NOT NULL REFERENCES agents ON DELETE CASCADE,
  project text NOT NULL,
  trigger text NOT NULL,
  recipe text NOT NULL,
  nonce text NOT NULL,
  file text NOT NULL,
  cwd text NOT NULL,
  old_session text NOT NULL,
  new_session text,
  requested_at timestamptz NOT NULL,
  -- Of the last row in handoff_steps: a step is only taken from the one before it.
  step text NOT NULL,
  sent_back integer NOT NULL DEFAULT 0,
  sha256 text,
  document text,
  -- Nothing is cleared before the document is stored.
  CHECK (document IS NOT NULL AND sha256 IS NOT NULL OR step NOT IN ('saved', 'cleared', 'resumed', 'confirmed', 'done'))
);
CREATE INDEX handoffs_by_agent ON handoffs (agent_id, requested_at);
CREATE INDEX handoffs_open ON handoffs (agent_id) WHERE step NOT IN ('done', 'failed');

CREATE TABLE handoff_steps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  handoff_id uuid NOT NULL REFERENCES handoffs ON DELETE CASCADE,
  step text NOT NULL,
  at timestamptz NOT NULL,
  reason text
);
CREATE INDEX handoff_steps_by_handoff ON handoff_steps (handoff_id);

CREATE INDEX actions_by_handoff ON actions ((intent->>'handoff')) WHERE intent ? 'handoff';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON handoffs TO watchkeeper;
    GRANT SELECT, INSERT ON handoff_steps TO watchkeeper;
    GRANT USAGE ON SEQUENCE handoff_steps_id_seq TO watchkeeper;
  END IF;
END $$;
