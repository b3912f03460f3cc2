-- The context of each session from figure to figure, and the band an agent stays in.

CREATE TABLE context_points (
  agent_id bigint NOT NULL REFERENCES agents ON DELETE CASCADE,
  session_id text NOT NULL,
  at timestamptz NOT NULL,
  used bigint NOT NULL,
  window_size bigint NOT NULL,
  usable bigint NOT NULL,
  source text NOT NULL,
  -- When the turn began in which it was said.
  turn_at timestamptz,
  -- What set off the client's compaction that led to this figure, and the figure before it.
  compacted text,
  used_before bigint,
  -- The same figure read again after a restart is the same row.
  PRIMARY KEY (agent_id, session_id, at, used, window_size)
);
CREATE INDEX context_points_by_time ON context_points (at);

ALTER TABLE agents
  ADD COLUMN context_band smallint,
  ADD COLUMN context_band_since timestamptz;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON context_points TO watchkeeper;
  END IF;
END $$;
