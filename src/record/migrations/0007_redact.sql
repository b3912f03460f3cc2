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

-- `forms`: the secret, and as it is written within other texts. The rows changed in each table.
CREATE FUNCTION redact_everywhere(forms text[], on_host text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- Words that something is decided by; whatever is in these columns is nobody's text.
  machine constant text[] := '{kind,trigger,outcome,state,detail,source,authority,step,status,check_name,check_type,
    severity,ending,session_type,client,client_version,recipe,boot_id,start_ticks,last_turn,context_source,compacted,
    recorded_inode,tmux_pane,nonce,sha256,host,finding,noticed}';
  own_words constant text := 'requested prompted written verified saved cleared resumed confirmed finished abandoned '
    'running stalled failed interrupted interrupt go-back permission question compact compacting handoff subagent '
    'transcript registry statusline watchkeeper process session prompt warning critical healthy unknown uncertain refused '
    'deferred opened repeated closed observe manage document channels answer answered queued expired superseded [redacted]';
  salt constant text := gen_random_uuid()::text;
  -- As they stand in the text of a jsonb value.
  escaped text[];
  form text;
  tbl record;
  col record;
  sets text;
  conds text;
  changed bigint;
  replaced jsonb := '{}';
  act uuid := gen_random_uuid();
BEGIN
  IF coalesce(array_length(forms, 1), 0) NOT BETWEEN 1 AND 20 THEN
    RAISE EXCEPTION 'one to twenty forms of a secret are needed' USING ERRCODE = '22023';
  END IF;
  FOREACH form IN ARRAY forms LOOP
    IF form IS NULL OR length(form) < 6 OR length(form) > 200000 THEN
      RAISE EXCEPTION 'a secret has 6 to 200000 characters' USING ERRCODE = '22023';
    END IF;
    IF strpos(own_words, form) > 0 OR btrim(form) = '' OR form ~ '^wk-[0-9a-f]+$'
      OR EXISTS (SELECT FROM public.handoffs h WHERE strpos(h.id::text, form) > 0)
      OR EXISTS (SELECT FROM public.incidents i WHERE strpos(i.id::text, form) > 0)
      OR EXISTS (SELECT FROM public.agents a WHERE a.session_id ~ '^[0-9a-f-]{36}$' AND strpos(a.session_id, form) > 0)
      OR EXISTS (SELECT FROM public.handoffs h WHERE h.old_session ~ '^[0-9a-f-]{36}$' AND strpos(h.old_session, form) > 0)
    THEN
      RAISE EXCEPTION 'it is a word or an id that Watchkeeper itself goes by' USING ERRCODE = '22023';
    END IF;
  END LOOP;
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
