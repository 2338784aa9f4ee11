-- Finishes erasures that waited for messages on their way, once these have arrived or were given up. Each runs in its own subtransaction,
-- so that one failing row stops no other; requests that are locked at this moment are left for the next sweep. Those checked
-- longest ago come first. There is more to do only if this made progress: the remaining ones wait for the relay.
create or replace function capacity.timer_erase(p_most integer, out erased integer, out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_erasure capacity.erasures;
  v_seen integer := 0;
begin
  erased := 0;
  failed := '[]';
  for v_row in
    select x.request_id, f.request_id is not null as failed_before
      from capacity.erasures x
      join capacity.requests r on r.id = x.request_id
      left join capacity.timer_failures f on f.request_id = x.request_id and f.timer = 'erasure'
     where x.finished_at is null and coalesce(f.retry_at, '-infinity') <= now()
     order by x.tried_at limit p_most
       for update of r skip locked
  loop
    v_seen := v_seen + 1;
    begin
      v_erasure := capacity.erase_step(v_row.request_id);
      if v_row.failed_before then
        delete from capacity.timer_failures f where f.request_id = v_row.request_id and f.timer = 'erasure';
      end if;
      erased := erased + (v_erasure.finished_at is not null)::integer;
    exception when others then
      failed := failed || capacity.timer_failed(v_row.request_id, 'erasure', sqlstate, sqlerrm);
    end;
  end loop;
  more := v_seen = p_most and erased > 0;
end
$$;
comment on function capacity.timer_erase(integer) is 'Continues erasures that wait for messages, a batch of them.';
