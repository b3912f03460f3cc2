-- Rows of several hosts on one database stay apart, it is on record who asked for a handoff, and when a host was last heard.

-- Two hosts may have a project and a task of the same name. Rows that other programs put in belong to no host; they are one more.
ALTER TABLE active_spawns DROP CONSTRAINT active_spawns_project_task_id_key;
CREATE UNIQUE INDEX active_spawns_of_hosts ON active_spawns (coalesce(host, ''), project, task_id);

-- One row per host and project: the `{project}-ps` agent, else one that lives, else the one heard of last.
CREATE OR REPLACE VIEW ps_sessions AS
SELECT DISTINCT ON (a.host, a.project)
  a.id::integer AS id,
  a.project::varchar(50) AS project,
  'cli'::varchar(10) AS session_type,
  a.tmux_session::varchar(100) AS session_id,
  a.started_at,
  coalesce(a.last_activity, a.started_at) AS last_activity,
  a.context_at AS last_context_check,
  (a.context_used::float / nullif(a.context_window, 0)) AS context_usage,
  a.context_used::integer AS estimated_tokens_used,
  a.host
FROM agents a
ORDER BY a.host, a.project, (a.name = a.project || '-ps') DESC, (a.state <> 'ended') DESC, a.last_seen DESC;

-- By the clock of the database, so that hosts whose clocks differ can be compared.
ALTER TABLE hosts ADD COLUMN seen_at timestamptz;

-- `human NAME`, `agent NAME` or `rule`; NULL: from before it was written down.
ALTER TABLE handoffs ADD COLUMN asked_by text;
