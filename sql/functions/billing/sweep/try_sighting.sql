-- Locks what an answer of Stripe's concerns, if nobody holds it right now: its request, and for answers of a comparison also the
-- comparison, which one sweep at a time reads.
create or replace function billing.try_sighting(p_sighting billing.sightings, p_request_id text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_sighting.outbox_key ~ '^(found|billing/list):' and not headroom.try_turn('billing.try_sighting') then
    return false;
  end if;
  return p_request_id is null or billing.try_lock(p_request_id);
end
$$;
comment on function billing.try_sighting(billing.sightings, text)
  is 'Whether what an answer of Stripe''s concerns could be locked. Nullable: p_request_id.';
