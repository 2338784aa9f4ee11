-- Forgets what deliveries brought back under a lane, for a layer above that has taken it over (hook outbox.captured): what nobody binds
-- would otherwise be kept for ever, and no erasure would find it.
create or replace function outbox.forget_captures(p_stream text, p_key text, p_names text[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  delete from outbox.captures c using outbox.lanes l
   where l.stream_id = outbox.stream_id(p_stream) and l.key = p_key and c.lane_id = l.lane_id and c.name = any (p_names);
$$;
comment on function outbox.forget_captures(text, text, text[]) is 'Forgets captured values that somebody else keeps.';
