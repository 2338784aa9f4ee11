-- The settings of a stream: everything except its name, what is fixed when it is made, and what Headroom notes about it.
create or replace function outbox.stream_settings(p_stream outbox.streams) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(p_stream) - '{stream_id,name,ordered,class_id,built_in,created_at}'::text[]
$$;
comment on function outbox.stream_settings(outbox.streams) is 'The settings of a stream that are not fixed.';
