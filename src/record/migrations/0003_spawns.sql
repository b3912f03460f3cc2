-- Spawns from all sources, troubles of one spawn, and troubles and actions that belong to no agent.

ALTER TABLE active_spawns
  ADD COLUMN host text,
  ADD COLUMN source text NOT NULL DEFAULT 'tracked' CHECK (source IN ('client', 'tracked')),
  ADD COLUMN session_id text,
  ADD COLUMN label text,
  ADD COLUMN reason text,
  ADD COLUMN ended_at timestamptz,
  ADD COLUMN noticed text;

-- Until now only the clients' own were there; what of them runs is found again.
UPDATE active_spawns s SET
  source = 'client',
  host = (SELECT a.host FROM agents a WHERE a.id = s.agent_id),
  ended_at = coalesce(last_output_change, spawn_time, now()),
  status = CASE WHEN status = 'running' THEN 'abandoned' ELSE status END,
  noticed = CASE WHEN status = 'running' THEN 'abandoned' ELSE status END;

CREATE INDEX active_spawns_open ON active_spawns (source) WHERE ended_at IS NULL;

ALTER TABLE incidents
  ALTER COLUMN agent_id DROP NOT NULL,
  ADD COLUMN host text,
  ADD COLUMN project text,
  ADD COLUMN subject text;
UPDATE incidents i SET host = a.host, project = a.project FROM agents a WHERE a.id = i.agent_id;

ALTER TABLE actions ADD COLUMN host text;

CREATE INDEX health_checks_by_finding ON health_checks ((details->>'finding'));
