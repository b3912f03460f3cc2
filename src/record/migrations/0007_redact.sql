-- Takes one secret out of everything stored, the ledger included, which nobody may change otherwise. All it can write is
-- `[redacted]`, in place of a text it was given: what Watchkeeper decides by is left alone, and short texts are refused.

CREATE FUNCTION redacted_text(value text, forms text[], mark text DEFAULT '[redacted]') RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  form text;
BEGIN
  FOREACH form IN ARRAY forms LOOP
    value := replace(value, form, mark);
  END LOOP;
  RETURN value;
END $$;

-- Texts only: the names of members, numbers and the form stay, so it is valid JSON afterwards too.
CREATE FUNCTION redacted_json(value jsonb, forms text[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  CASE jsonb_typeof(value)
    WHEN 'string' THEN
      RETURN to_jsonb(public.redacted_text(value #>> '{}', forms));
    WHEN 'array' THEN
      RETURN coalesce((SELECT jsonb_agg(public.redacted_json(item, forms) ORDER BY place)
        FROM jsonb_array_elements(value) WITH ORDINALITY AS items (item, place)), '[]');
    WHEN 'object' THEN
      RETURN coalesce((SELECT jsonb_object_agg(name, public.redacted_json(item, forms))
        FROM jsonb_each(value) AS members (name, item)), '{}');
    ELSE
      RETURN value;
  END CASE;
END $$;

CREATE FUNCTION holds_any(value text, forms text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(bool_or(strpos(value, form) > 0), false) FROM unnest(forms) AS form
$$;

-- Asked before anything is done, by the command and by a daemon that is to forget: what is known by a word, a name or an id would
-- not be known again. NULL: it can be taken out.
CREATE FUNCTION why_not_redacted(forms text[]) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  own_words constant text[] := '{
    silent-stop,waiting-human,stalled-turn,ended-unexpectedly,no-answer,looping,repeated-error,no-progress,edit-revert,
    spawn-stalled,spawn-failed,spawn-looks-failed,spawn-abandoned,spawns-failing,orphaned-work,context-high,context-full,
    auth-failed,rate-limited,never-started,completion-missing,mass-failure,repetition,error-acceleration,token-burn,
    cost-spike,low-cache,low-efficiency,cognitive-decay,entropy,handoff-failed,control-client,database-away,disk-full,
    tmux-away,flapping,
    prompt,command,interrupt,notify,redact,human,handoff,
    confirmed,queued,refused,uncertain,deferred,answered,answer,expired,superseded,delivered,
    waiting-permission,waiting-question,waiting-setup,waiting-dialog,unsure,not-agent,pane-dead,pane-mode,synchronized,
    human-typing,draft,paused,watch-mode,held-elsewhere,no-hold,unsafe-text,authority,no-ledger,no-input-box,unknown-command,
    spawn-update,context-check,high-context,handoff-again,handoff-resume,continue,stalled,
    working,waiting,retrying,limited,compacting,unknown,thinking,subagent,api-stall,permission,question,setup,dialog,
    suspended,unreadable,
    registry,transcript,statusline,screen,process,output,spawn-track,watchkeeper,
    requested,prompted,written,verified,saved,cleared,resumed,document,go-back,not-confirmed,
    running,failed,finished,abandoned,stopped,interrupted,
    by-itself,human-wrote,human-interrupted,human-answered,human-acked,human-denied,prompt-helped,other-prompt,agent-died,
    unseen,
    session-start,session-end,turn-end,turn-failed,tool-start,tool-end,allowed,compact-start,compact-end,subagent-start,
    subagent-end,
    warning,critical,healthy,observe,manage,session,compact,opened,repeated,closed,channels,tracked,client,told human,
    [redacted]}';
  form text;
BEGIN
  IF coalesce(array_length(forms, 1), 0) NOT BETWEEN 1 AND 20 THEN RETURN 'one to twenty forms of a secret are needed'; END IF;
  FOREACH form IN ARRAY forms LOOP
    IF form IS NULL OR length(form) < 6 OR length(form) > 200000 OR btrim(form) = '' THEN
      RETURN 'a secret has 6 to 200000 characters, and not only blanks';
    END IF;
    IF form ~ '^wk-[0-9a-f]+$'
      OR EXISTS (SELECT FROM unnest(own_words) AS word WHERE strpos('rule:' || word, form) > 0)
      OR EXISTS (SELECT FROM public.incidents WHERE strpos(id::text, form) > 0
        OR closed_at IS NULL AND (strpos(subject, form) > 0 OR strpos(project, form) > 0))
      OR EXISTS (SELECT FROM public.sessions WHERE strpos(session_id, form) > 0)
      OR EXISTS (SELECT FROM public.agents WHERE strpos(session_id, form) > 0)
      OR EXISTS (SELECT FROM public.active_spawns WHERE source = 'client' AND strpos(task_id, form) > 0)
      OR EXISTS (SELECT FROM public.handoffs WHERE strpos(id::text, form) > 0 OR strpos(nonce, form) > 0
        OR strpos(recipe, form) > 0 OR strpos(old_session, form) > 0 OR strpos(new_session, form) > 0
        OR step NOT IN ('done', 'failed') AND (strpos(file, form) > 0 OR strpos(cwd, form) > 0))
    THEN
      RETURN 'it is part of a word or an id that Watchkeeper itself goes by, or of what an open trouble or handoff is about: give more of the text, or wait until that is over';
    END IF;
    IF EXISTS (SELECT FROM public.agents WHERE strpos(name, form) > 0 OR strpos(project, form) > 0 OR strpos(host, form) > 0
        OR strpos(tmux_session, form) > 0 OR strpos(tmux_socket, form) > 0)
      OR EXISTS (SELECT FROM public.authority_overrides WHERE strpos(agent, form) > 0 OR strpos(host, form) > 0)
      OR EXISTS (SELECT FROM public.hosts WHERE strpos(id, form) > 0 OR strpos(name, form) > 0 OR strpos(was, form) > 0)
    THEN
      RETURN 'it is part of the name of an agent, project or host, by which that is known: give more of the text, or wait until that name is no longer on record';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

-- `forms`: the secret, and as it is written within other texts. The rows changed in each table.
CREATE FUNCTION redact_everywhere(forms text[], on_host text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- Words that something is decided by; whatever is in these columns is nobody's text.
  machine constant text[] := '{kind,trigger,outcome,state,detail,source,authority,step,status,check_name,check_type,
    severity,ending,session_type,client,client_version,recipe,boot_id,start_ticks,last_turn,context_source,compacted,
    recorded_inode,tmux_pane,nonce,sha256,host,finding,noticed,name}';
  salt constant text := gen_random_uuid()::text;
  -- As they stand in the text of a jsonb value.
  escaped text[];
  why text;
  tbl record;
  col record;
  sets text;
  conds text;
  changed bigint;
  replaced jsonb := '{}';
  act uuid := gen_random_uuid();
BEGIN
  why := public.why_not_redacted(forms);
  IF why IS NOT NULL THEN RAISE EXCEPTION '%', why USING ERRCODE = '22023'; END IF;
  SELECT array_agg(each) INTO escaped FROM (
    SELECT unnest(forms) AS each UNION SELECT substr(to_json(f)::text, 2, length(to_json(f)::text) - 2) FROM unnest(forms) AS f
  ) AS both_ways;

  -- Those that only grow come last: nobody can add to them while they are changed.
  FOR tbl IN
    SELECT c.oid, c.relname AS name, EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) AS guarded
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'
    ORDER BY guarded, c.relname
  LOOP
    sets := '';
    conds := '';
    FOR col IN
      SELECT a.attname AS name, a.atttypid IN ('json'::regtype, 'jsonb'::regtype) AS is_json, format_type(a.atttypid, NULL) AS type,
        CASE WHEN a.atttypid = 'varchar'::regtype AND a.atttypmod > 4 THEN a.atttypmod - 4 END AS chars_max,
        EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND a.attnum = ANY (i.indkey)) AS is_key
      FROM pg_attribute a
      WHERE a.attrelid = tbl.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        AND a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype) AND a.attname <> ALL (machine)
    LOOP
      IF col.is_json THEN
        sets := sets || format(', %1$I = public.redacted_json(%1$I::jsonb, $1)::%2$s', col.name, col.type);
        conds := conds || format(' OR (public.holds_any(%1$I::text, $2) AND public.redacted_json(%1$I::jsonb, $1) <> %1$I::jsonb)', col.name);
      ELSE
        -- Two keys that differed stay two.
        sets := sets || format(', %1$I = left(public.redacted_text(%1$I, $1, %2$s), %3$s)', col.name,
          CASE WHEN col.is_key THEN format('''[redacted '' || left(md5(%I || $3), 6) || '']''', col.name) ELSE '''[redacted]''' END,
          coalesce(col.chars_max, 1000000000));
        conds := conds || format(' OR public.holds_any(%I, $1)', col.name);
      END IF;
    END LOOP;
    CONTINUE WHEN sets = '';
    EXECUTE format('SELECT count(*) FROM public.%I WHERE %s', tbl.name, substr(conds, 5)) INTO changed USING forms, escaped, salt;
    CONTINUE WHEN changed = 0;
    IF tbl.name = 'handoffs' THEN
      sets := sets || ', sha256 = CASE WHEN public.holds_any(document, $1)
        THEN encode(sha256(convert_to(public.redacted_text(document, $1), ''UTF8'')), ''hex'') ELSE sha256 END';
    END IF;
    IF tbl.guarded THEN EXECUTE format('ALTER TABLE public.%I DISABLE TRIGGER USER', tbl.name); END IF;
    EXECUTE format('UPDATE public.%I SET %s WHERE %s', tbl.name, substr(sets, 3), substr(conds, 5)) USING forms, escaped, salt;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF tbl.guarded THEN EXECUTE format('ALTER TABLE public.%I ENABLE TRIGGER USER', tbl.name); END IF;
    replaced := replaced || jsonb_build_object(tbl.name, changed);
  END LOOP;

  INSERT INTO public.actions (id, kind, trigger, intent, host)
    VALUES (act, 'redact', 'human', jsonb_build_object('replaced', replaced), on_host);
  INSERT INTO public.action_outcomes (action_id, outcome) VALUES (act, 'confirmed');
  RETURN replaced;
END $$;

REVOKE ALL ON FUNCTION redact_everywhere(text[], text) FROM PUBLIC;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'watchkeeper') AND current_user <> 'watchkeeper' THEN
    GRANT EXECUTE ON FUNCTION redact_everywhere(text[], text) TO watchkeeper;
  END IF;
END $$;
