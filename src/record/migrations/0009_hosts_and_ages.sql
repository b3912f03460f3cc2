-- A host is known by an id of its own, what is too old goes by time that was lived through, and the ledger is found by index.

-- `id` stands in the column `host` of all other tables; `name` is what people call it. `was`: the host name under which the
-- rows were before there were ids, taken over once.
CREATE TABLE hosts (
  id text PRIMARY KEY,
  name text NOT NULL,
  machine text,
  was text UNIQUE,
  first_seen timestamptz NOT NULL DEFAULT now()
);

-- What the wall clock said after so much time had passed: nothing goes that is not older by both.
CREATE TABLE clock_marks (
  host text NOT NULL,
  passed_ms bigint NOT NULL,
  at timestamptz NOT NULL,
  boot_id text NOT NULL,
  boot_ms bigint NOT NULL,
  PRIMARY KEY (host, passed_ms)
);

-- One open handoff per agent: of several the newest goes on.
WITH older AS (
  SELECT h.id FROM handoffs h WHERE h.step NOT IN ('done', 'failed') AND EXISTS (
    SELECT FROM handoffs n WHERE n.agent_id = h.agent_id AND n.step NOT IN ('done', 'failed')
      AND (n.requested_at, n.id) > (h.requested_at, h.id))
), ended AS (
  UPDATE handoffs h SET step = 'failed' FROM older WHERE h.id = older.id RETURNING h.id
)
INSERT INTO handoff_steps (handoff_id, step, at, reason) SELECT id, 'failed', now(), 'stale' FROM ended;
DROP INDEX handoffs_open;
CREATE UNIQUE INDEX handoffs_one_open ON handoffs (agent_id) WHERE step NOT IN ('done', 'failed');

-- Every question to the ledger.
CREATE INDEX actions_by_agent ON actions (agent_id, at);
CREATE INDEX actions_by_kind ON actions (agent_id, kind, at);
CREATE INDEX actions_of_hosts ON actions (host, at) WHERE agent_id IS NULL;
CREATE INDEX actions_by_time ON actions (at);
CREATE INDEX actions_by_finding ON actions (finding) WHERE finding IS NOT NULL;
-- What goes with an agent or by its age.
CREATE INDEX health_checks_by_agent ON health_checks (agent_id, check_time);
CREATE INDEX active_spawns_by_agent ON active_spawns (agent_id);
CREATE INDEX incidents_by_agent ON incidents (agent_id, closed_at);
CREATE INDEX scores_by_end ON scores (host, ended_at);

-- Health checks that are about no agent: of which host.
ALTER TABLE health_checks ADD COLUMN host text;

-- The ledger is kept for a year of what it holds itself, whoever asks; by this door only.
DROP TRIGGER actions_only_grow ON actions;
DROP TRIGGER action_outcomes_only_grow ON action_outcomes;
CREATE TRIGGER actions_only_grow BEFORE UPDATE OR TRUNCATE ON actions
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_only_grows();
CREATE TRIGGER action_outcomes_only_grow BEFORE UPDATE OR TRUNCATE ON action_outcomes
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_only_grows();
CREATE TRIGGER actions_stay BEFORE DELETE ON actions FOR EACH STATEMENT
  WHEN (current_setting('watchkeeper.expires', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION ledger_only_grows();
CREATE TRIGGER action_outcomes_stay BEFORE DELETE ON action_outcomes FOR EACH STATEMENT
  WHEN (current_setting('watchkeeper.expires', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION ledger_only_grows();

CREATE FUNCTION expire_ledger(of_host text, before timestamptz, rows_max integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
  old uuid[];
BEGIN
  before := least(before, now() - interval '365 days', (SELECT max(at) FROM actions) - interval '365 days');
  old := ARRAY(
    SELECT o.id FROM (
      SELECT a.id FROM agents g CROSS JOIN LATERAL
        (SELECT id FROM actions WHERE agent_id = g.id AND at < before ORDER BY at LIMIT rows_max) a WHERE g.host = of_host
      UNION ALL
      (SELECT id FROM actions WHERE agent_id IS NULL
         AND host = ANY (ARRAY(SELECT unnest(ARRAY[h.id, h.was]) FROM hosts h WHERE h.id = of_host)) AND at < before LIMIT rows_max)
    ) o LIMIT rows_max);
  PERFORM set_config('watchkeeper.expires', 'on', true);
  DELETE FROM action_outcomes WHERE action_id = ANY (old);
  DELETE FROM actions WHERE id = ANY (old);
  PERFORM set_config('watchkeeper.expires', 'off', true);
  RETURN cardinality(old);
END $$;
REVOKE ALL ON FUNCTION expire_ledger(text, timestamptz, integer) FROM PUBLIC;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON hosts, clock_marks TO watchkeeper;
    GRANT EXECUTE ON FUNCTION expire_ledger(text, timestamptz, integer) TO watchkeeper;
  END IF;
END $$;
