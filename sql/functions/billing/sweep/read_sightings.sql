-- Reads the answers that relays brought back from Stripe, oldest first, each in its own subtransaction. An answer that cannot be read for a
-- day is dismissed. An answer whose request somebody holds right now is left for the next time, and so is one that could not be read: both
-- go to the end of the queue, so that they keep nothing else waiting.
create or replace function billing.read_sightings(p_most integer, out seen integer, out moved integer, out failed jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_sighting billing.sightings;
  v_request_id text;
  v_failure capacity.timer_failures;
begin
  seen := 0;
  moved := 0;
  failed := '[]';
  for v_sighting in
    select s.* from billing.sightings s where s.next_read_at <= v_now order by s.next_read_at, s.id limit p_most for update skip locked
  loop
    seen := seen + 1;
    v_request_id := null;
    v_failure := null;
    begin
      v_request_id := billing.request_of_sighting(v_sighting);
      select f.* into v_failure from capacity.timer_failures f where f.request_id = v_request_id and f.timer = 'billing';
      if v_failure.retry_at > now() or not billing.try_sighting(v_sighting, v_request_id) then
        update billing.sightings s set next_read_at = greatest(v_failure.retry_at, clock_timestamp()) where s.id = v_sighting.id;
        continue;
      end if;
      if starts_with(v_sighting.outbox_key, 'billing/list:') then
        perform billing.read_page(v_sighting);
      else
        moved := moved + billing.read_sighting(v_sighting);
      end if;
      delete from billing.sightings s where s.id = v_sighting.id;
      if v_failure.request_id is not null then
        delete from capacity.timer_failures f where f.request_id = v_request_id and f.timer = 'billing';
      end if;
    exception when others then
      continue when billing.dismiss_sighting(v_sighting, v_request_id);
      if v_request_id is not null then
        failed := failed || capacity.timer_failed(v_request_id, 'billing', sqlstate, sqlerrm);
        -- Put it behind the request's other answers, which continue when they are due again.
        update billing.sightings s
           set next_read_at = interval '1 minute'
                 + (select f.retry_at from capacity.timer_failures f where f.request_id = v_request_id and f.timer = 'billing')
         where s.id = v_sighting.id;
      else
        update billing.sightings s set next_read_at = now() + greatest(now() - s.seen_at, interval '1 minute') where s.id = v_sighting.id;
      end if;
    end;
  end loop;
end
$$;
comment on function billing.read_sightings(integer) is 'Reads a batch of Stripe''s answers.';
