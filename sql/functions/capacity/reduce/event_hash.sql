-- One link of the chain: SHA-256 of the bytes of the hash before, none for the first event, and of the event's text in UTF-8.
create or replace function capacity.event_hash(p_previous bytea, p_event capacity.events) returns bytea
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(coalesce(p_previous, ''::bytea) || convert_to(capacity.event_text(p_event), 'UTF8'));
end
$$;
comment on function capacity.event_hash(bytea, capacity.events)
  is 'SHA-256 over the hash before and the text of the event. Nullable: p_previous.';
