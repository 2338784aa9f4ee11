-- Each job that has not ended waits for something, and only for what wait_rules() bounds in its state.
create or replace function provisioning.verify_waits(p_job_ids uuid[]) returns table (invariant text, code text, subject text, detail text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'I7', 'wait_unbounded', j.request_id,
         format('it is %s, its cleanup %s, and waits for %s', j.state, j.cleanup,
                coalesce(nullif(array_to_string(w.waits, ', '), ''), 'nothing'))
    from provisioning.jobs j
   cross join lateral (select provisioning.waits_of(j) as waits) w
   where j.id = any (p_job_ids)
     and (j.state in ('waiting', 'queued', 'provisioning', 'failed') or j.cleanup in ('under_way', 'failed') or j.has_turn)
     and (w.waits = '{}' or exists (select from unnest(w.waits) x(wait)
                                     where not exists (select from provisioning.wait_rules() r
                                                        where r.wait = x.wait and j.state = any (r.states))));
$$;
comment on function provisioning.verify_waits(uuid[]) is 'Jobs that wait without a bound.';
