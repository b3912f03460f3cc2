-- A program of the first requirements writes what an agent said of its context into `ps_sessions`: that is kept beside the
-- agent, and counts where nothing better tells. And in that view it can be seen whose agent has ended.

CREATE TABLE context_reports (
  agent_id bigint PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  -- Of which it was said: another session begins with nothing.
  session_id text,
  usage double precision NOT NULL CHECK (usage BETWEEN 0 AND 1),
  tokens integer CHECK (tokens >= 0),
  at timestamptz NOT NULL CHECK (isfinite(at))
);

CREATE OR REPLACE VIEW ps_sessions AS
SELECT DISTINCT ON (a.host, a.project)
  a.id::integer AS id,
  a.project::varchar(50) AS project,
  'cli'::varchar(10) AS session_type,
  a.tmux_session::varchar(100) AS session_id,
  a.started_at,
  coalesce(a.last_activity, a.started_at) AS last_activity,
  CASE WHEN own.is_known THEN a.context_at ELSE r.at END AS last_context_check,
  CASE WHEN own.is_known THEN a.context_used::float / nullif(a.context_window, 0) ELSE r.usage END AS context_usage,
  CASE WHEN own.is_known THEN a.context_used::integer ELSE r.tokens END AS estimated_tokens_used,
  a.host,
  CASE WHEN a.state = 'ended' THEN a.state_since END AS ended_at
FROM agents a
-- What the daemon has read of it may be older.
CROSS JOIN LATERAL (SELECT a.context_used IS NOT NULL AND a.context_source IS DISTINCT FROM 'ps_sessions' AS is_known) own
LEFT JOIN context_reports r ON r.agent_id = a.id AND r.session_id = a.session_id
ORDER BY a.host, a.project, (a.name = a.project || '-ps') DESC, (a.state <> 'ended') DESC, a.last_seen DESC;

CREATE FUNCTION take_context_report() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written constant text[] := '{context_usage,estimated_tokens_used,last_context_check}';
BEGIN
  IF to_jsonb(NEW) - written IS DISTINCT FROM to_jsonb(OLD) - written THEN
    RAISE EXCEPTION 'of ps_sessions only % can be written', array_to_string(written, ', ') USING ERRCODE = '0A000';
  END IF;
  IF NEW.context_usage IS NULL THEN
    DELETE FROM context_reports WHERE agent_id = OLD.id;
    RETURN NEW;
  END IF;
  IF NEW.context_usage NOT BETWEEN 0 AND 1 THEN
    RAISE EXCEPTION 'context_usage is from 0.0 to 1.0, not %', NEW.context_usage USING ERRCODE = '22003';
  END IF;
  INSERT INTO context_reports (agent_id, session_id, usage, tokens, at)
    SELECT a.id, a.session_id, NEW.context_usage, NEW.estimated_tokens_used,
      -- Not of a time to come; without one of now.
      CASE WHEN NEW.last_context_check IS DISTINCT FROM OLD.last_context_check THEN least(NEW.last_context_check, now()) ELSE now() END
    FROM agents a WHERE a.id = OLD.id
  ON CONFLICT (agent_id) DO UPDATE SET session_id = excluded.session_id, usage = excluded.usage, tokens = excluded.tokens, at = excluded.at;
  RETURN NEW;
END $$;
CREATE TRIGGER ps_sessions_written INSTEAD OF UPDATE ON ps_sessions FOR EACH ROW EXECUTE FUNCTION take_context_report();

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON context_reports TO watchkeeper;
  END IF;
END $$;
