-- Hook of capacity.swept: checks the jobs that are due, each in its own subtransaction, so that one bad row stops no other. Requests and
-- turns that somebody holds right now are left for the next time.
create or replace function provisioning.sweep(p_argument jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_max integer := coalesce((p_argument ->> 'most')::integer, 200);
  v_row record;
  v_seen integer := 0;
  v_moved integer := 0;
  v_failed jsonb := provisioning.adopt(v_max);
begin
  for v_row in
    select j.id, j.request_id, j.workspace_id, j.customer_key, j.version, f.request_id is not null as failed_before
      from provisioning.jobs j
      join capacity.requests r on r.id = j.request_id
      left join capacity.timer_failures f on f.request_id = j.request_id and f.timer = 'provisioning'
     where (j.state in ('waiting', 'queued', 'provisioning', 'failed') or j.cleanup in ('under_way', 'failed') or j.has_turn)
       and j.next_look_at <= now()
       and coalesce(f.retry_at, '-infinity') <= now()
     order by j.next_look_at limit v_max
       for update of r skip locked
  loop
    v_seen := v_seen + 1;
    if not provisioning.lock_turn(v_row.workspace_id, v_row.customer_key, false) then
      -- Move it behind the others: somebody holds this job's turn and may take a while.
      update provisioning.jobs j set next_look_at = now() + interval '10 seconds'
       where j.id in (select o.id from provisioning.jobs o where o.id = v_row.id for update skip locked);
      continue;
    end if;
    begin
      perform provisioning.look_after(v_row.id);
      if v_row.failed_before then
        delete from capacity.timer_failures f where f.request_id = v_row.request_id and f.timer = 'provisioning';
      end if;
      v_moved := v_moved + (select (j.version <> v_row.version)::integer from provisioning.jobs j where j.id = v_row.id);
    exception when others then
      v_failed := v_failed || capacity.timer_failed(v_row.request_id, 'provisioning', sqlstate, sqlerrm);
    end;
  end loop;
  -- Nobody reads the reports about jobs that have ended.
  delete from provisioning.sightings s where s.seen_at < now() - interval '1 hour';
  delete from capacity.timer_failures f using provisioning.jobs j
   where f.timer = 'provisioning' and j.request_id = f.request_id and j.state in ('running', 'given_up', 'cancelled')
     and j.cleanup not in ('under_way', 'failed') and not j.has_turn;
  delete from provisioning.callbacks c
   where (c.workspace_id, c.id) in (select o.workspace_id, o.id from provisioning.callbacks o
                                     where o.outcome = 'refused' and o.received_at < now() - interval '90 days'
                                     order by o.received_at limit 1000 for update skip locked);
  return jsonb_build_object('provisioning', jsonb_build_object('moved', v_moved, 'failed', v_failed, 'more', v_seen = v_max));
end
$$;
comment on function provisioning.sweep(jsonb) is 'Checks a batch of the jobs that are due.';
