-- One link of the chain. The canonical form is the text of a JSON array, with times as whole microseconds: no setting of a
-- session (time zone, date style, float digits, bytea output) changes a byte of it.
create or replace function capacity.event_hash(p_previous bytea, p_event capacity.events) returns bytea
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(coalesce(p_previous, ''::bytea) || convert_to(jsonb_build_array(
    p_event.request_id, p_event.seq, p_event.id, p_event.event_type, p_event.actor_type, p_event.actor_id, p_event.via,
    p_event.state_before, p_event.state_after, p_event.payload, p_event.effects,
    (extract(epoch from p_event.created_at) * 1000000)::bigint)::text, 'UTF8'));
end
$$;
comment on function capacity.event_hash(bytea, capacity.events)
  is 'SHA-256 over the hash before and the canonical form of the event. Nullable: p_previous.';
