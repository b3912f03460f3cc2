-- Agents and their sessions, what was seen of them, the tables of the first requirements, and the ledger.

CREATE TABLE agents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL,
  name text NOT NULL,
  project text NOT NULL,
  client text NOT NULL,
  client_version text,
  authority text NOT NULL CHECK (authority IN ('observe', 'nudge', 'manage')),
  cwd text,
  tmux_socket text,
  tmux_session text,
  tmux_pane text,
  boot_id text NOT NULL,
  pid integer NOT NULL,
  start_ticks text NOT NULL,
  started_at timestamptz NOT NULL,
  session_id text,
  state text NOT NULL,
  detail text,
  state_since timestamptz NOT NULL,
  source text NOT NULL,
  confidence real NOT NULL,
  tool text,
  model text,
  context_used bigint,
  context_window bigint,
  context_usable bigint,
  context_source text,
  context_at timestamptz,
  cost_usd double precision,
  last_activity timestamptz,
  last_turn text CHECK (last_turn IN ('ok', 'failed', 'interrupted')),
  last_turn_at timestamptz,
  error text,
  background jsonb NOT NULL DEFAULT '[]',
  first_seen timestamptz NOT NULL DEFAULT now(),
  last_seen timestamptz NOT NULL,
  UNIQUE (host, name)
);

-- One conversation of an agent. How far its transcript is recorded is kept beside the rows that were made of it,
-- in the same transaction, so that a restart neither loses nor doubles one.
CREATE TABLE sessions (
  agent_id bigint NOT NULL REFERENCES agents ON DELETE CASCADE,
  session_id text NOT NULL,
  transcript text,
  recorded_inode text,
  recorded_offset bigint,
  model text,
  context_used bigint,
  started_at timestamptz NOT NULL,
  last_activity timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (agent_id, session_id)
);

CREATE TABLE events (
  id uuid PRIMARY KEY,
  at timestamptz NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  agent_id bigint NOT NULL REFERENCES agents ON DELETE CASCADE,
  session_id text,
  source text NOT NULL,
  kind text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX events_by_agent ON events (agent_id, at);
CREATE INDEX events_by_arrival ON events (recorded_at);

CREATE TABLE active_spawns (
  id serial PRIMARY KEY,
  project varchar(50) NOT NULL,
  task_id varchar(100) NOT NULL,
  task_type varchar(50),
  description text,
  spawn_time timestamptz DEFAULT now(),
  last_output_change timestamptz,
  output_file text,
  status varchar(20) DEFAULT 'running',
  agent_id bigint REFERENCES agents ON DELETE CASCADE,
  UNIQUE (project, task_id)
);

CREATE TABLE health_checks (
  id serial PRIMARY KEY,
  project varchar(50) NOT NULL,
  check_time timestamptz DEFAULT now(),
  check_type varchar(50),
  status varchar(20),
  details jsonb,
  action_taken text,
  agent_id bigint REFERENCES agents ON DELETE CASCADE
);
CREATE INDEX health_checks_by_time ON health_checks (check_time);

-- One row per project: the `{project}-ps` agent, else the one heard of last.
CREATE VIEW ps_sessions AS
SELECT DISTINCT ON (a.project)
  a.id::integer AS id,
  a.project::varchar(50) AS project,
  'cli'::varchar(10) AS session_type,
  a.tmux_session::varchar(100) AS session_id,
  a.started_at,
  coalesce(a.last_activity, a.started_at) AS last_activity,
  a.context_at AS last_context_check,
  (a.context_used::float / nullif(a.context_window, 0)) AS context_usage,
  a.context_used::integer AS estimated_tokens_used
FROM agents a
ORDER BY a.project, (a.name = a.project || '-ps') DESC, (a.state <> 'ended') DESC, a.last_seen DESC;

-- The ledger: what was meant to be done, committed before it is done, and what came of it. Rows are only ever added.
CREATE TABLE actions (
  id uuid PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  agent_id bigint REFERENCES agents ON DELETE RESTRICT,
  kind text NOT NULL,
  trigger text NOT NULL,
  intent jsonb NOT NULL,
  finding text
);

CREATE TABLE action_outcomes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  action_id uuid NOT NULL REFERENCES actions,
  at timestamptz NOT NULL DEFAULT now(),
  outcome text NOT NULL,
  reason text,
  proof jsonb
);
CREATE INDEX action_outcomes_by_action ON action_outcomes (action_id);

CREATE FUNCTION ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger only grows: % on % is not allowed', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER actions_only_grow BEFORE UPDATE OR DELETE OR TRUNCATE ON actions
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_only_grows();
CREATE TRIGGER action_outcomes_only_grow BEFORE UPDATE OR DELETE OR TRUNCATE ON action_outcomes
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_only_grows();

-- The embedded server has a role of its own for daemon and CLI; on a server of yours the role in the URL does it all.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO watchkeeper;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO watchkeeper;
    REVOKE UPDATE, DELETE, TRUNCATE ON actions, action_outcomes FROM watchkeeper;
  END IF;
END $$;
