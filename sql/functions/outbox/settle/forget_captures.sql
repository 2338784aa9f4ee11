-- Forgets what deliveries captured under a lane, for a layer above that has taken it over (hook outbox.captured): captures that no row
-- binds would otherwise be kept forever, and no erasure would find them.
create or replace function outbox.forget_captures(p_stream text, p_key text, p_names text[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  delete from outbox.captures c using outbox.lanes l
   where l.stream_id = outbox.stream_id(p_stream) and l.key = p_key and c.lane_id = l.lane_id and c.name = any (p_names);
$$;
comment on function outbox.forget_captures(text, text, text[]) is 'Forgets captured values that a layer above keeps.';
