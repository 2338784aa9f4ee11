-- The canonical form of an event, which its hash covers: the text of a JSON array, with times as whole microseconds. No setting of a
-- session (time zone, date style, float digits, bytea output) changes a byte of it. It stays as it is for all time: receipts contain it.
create or replace function capacity.event_text(p_event capacity.events) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_array(
    p_event.request_id, p_event.seq, p_event.id, p_event.event_type, p_event.actor_type, p_event.actor_id, p_event.via,
    p_event.state_before, p_event.state_after, p_event.payload, p_event.effects,
    (extract(epoch from p_event.created_at) * 1000000)::bigint)::text;
end
$$;
comment on function capacity.event_text(capacity.events) is 'The text of an event that its hash covers.';
