-- The current settings of a stream, a rail or a limit, of those that a registration may set; null where none has that name.
create or replace function outbox.settings_of(p_kind text, p_name text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case p_kind
    when 'stream' then (select outbox.stream_settings(s) from outbox.streams s where s.name = p_name)
    when 'rail' then (select jsonb_build_object('timeout_ms', r.timeout_ms) from outbox.rails r where r.name = p_name)
    when 'limit' then (select jsonb_build_object('min_interval_ms', l.min_interval_ms, 'failure_threshold', l.failure_threshold,
                                                 'open_base_ms', l.open_base_ms) from outbox.limits l where l.name = p_name)
  end
$$;
comment on function outbox.settings_of(text, text) is 'The current settings of a stream, a rail or a limit. Nullable: result.';
