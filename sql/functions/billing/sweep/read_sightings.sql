-- Reads what relays brought back from Stripe, oldest first, each in a subtransaction of its own. What concerns a request that somebody
-- holds at this moment is left for the next time.
create or replace function billing.read_sightings(p_most integer, out seen integer, out moved integer, out failed jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_sighting billing.sightings;
  v_request_id text;
begin
  seen := 0;
  moved := 0;
  failed := '[]';
  for v_sighting in select s.* from billing.sightings s order by s.id limit p_most for update skip locked loop
    seen := seen + 1;
    v_request_id := null;
    begin
      v_request_id := billing.request_of(case jsonb_typeof(v_sighting.object) when 'array' then v_sighting.object -> 0
                                           else coalesce(v_sighting.object #> '{objects,0}', v_sighting.object) end);
      if starts_with(v_sighting.outbox_key, 'billing/look:refunds:') then
        v_request_id := coalesce((select p.request_id from billing.payments p
                                   where p.payment_intent = split_part(v_sighting.outbox_key, ':', 3)), v_request_id);
      end if;
      if starts_with(v_sighting.outbox_key, 'billing/list:') then
        perform billing.read_page(v_sighting);
      else
        continue when exists (select from capacity.timer_failures f
                               where f.request_id = v_request_id and f.timer = 'billing' and f.retry_at > now())
                   or v_request_id is not null and not billing.try_lock(v_request_id);
        moved := moved + billing.read_sighting(v_sighting);
      end if;
      delete from billing.sightings s where s.id = v_sighting.id;
    exception when others then
      if v_request_id is null then
        -- Nobody's: it is found again by the next comparison, if it matters.
        delete from billing.sightings s where s.id = v_sighting.id and s.seen_at < now() - interval '1 day';
      else
        failed := failed || capacity.timer_failed(v_request_id, 'billing', sqlstate, sqlerrm);
      end if;
    end;
  end loop;
end
$$;
comment on function billing.read_sightings(integer) is 'Reads what relays learnt at Stripe, a batch of it.';
