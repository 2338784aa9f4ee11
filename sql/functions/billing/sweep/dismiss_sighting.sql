-- Dismisses an answer that could not be read for a day, so that everything else of its request continues. Returns whether it is gone. A
-- page of a comparison is only deleted, because the next comparison brings it again.
create or replace function billing.dismiss_sighting(p_sighting billing.sightings, p_request_id text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_object jsonb := coalesce(p_sighting.object #> '{objects,0}', p_sighting.object);
begin
  if p_sighting.seen_at > now() - interval '1 day' or not billing.try_sighting(p_sighting, p_request_id) then
    return false;
  elsif not starts_with(p_sighting.outbox_key, 'billing/list:') then
    perform billing.record_unreadable(v_object ->> 'id', v_object ->> 'object', p_request_id, 'look:' || p_sighting.id);
  end if;
  delete from billing.sightings s where s.id = p_sighting.id;
  return true;
exception when others then
  return false;
end
$$;
comment on function billing.dismiss_sighting(billing.sightings, text)
  is 'Dismisses an answer that could not be read for a day; whether it is gone. Nullable: p_request_id.';
