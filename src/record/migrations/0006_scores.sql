-- How each trouble ended, for the record of each check on this machine. Outlives the incidents and agents it was about.

CREATE TABLE scores (
  incident_id uuid PRIMARY KEY,
  host text NOT NULL,
  agent text,
  check_name text NOT NULL,
  opened_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  ending text NOT NULL
);
CREATE INDEX scores_by_time ON scores (host, opened_at);

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON scores TO watchkeeper;
  END IF;
END $$;
