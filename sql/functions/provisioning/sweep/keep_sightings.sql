-- Hook of outbox.captured: stores GitHub's reports about runs for the sweep, and which runs were started for their callbacks. Settling
-- holds lanes, so nothing else is touched here.
create or replace function provisioning.keep_sightings(p_captures jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  with sighting as (
    insert into provisioning.sightings (job_id, task, number, runs)
    select split_part(c.key, ':', 2)::uuid, split_part(c.name, '-', 1), split_part(c.name, '-', 2)::smallint,
           case jsonb_typeof(c.value) when 'array' then c.value else jsonb_build_array(c.value) end
      from jsonb_to_recordset(p_captures) c(stream text, key text, name text, value jsonb, rail text)
     where c.stream = 'provisioning' and c.rail = 'github-actions'
       and c.key ~ '^(job|watch):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
       and c.name ~ '^(provision|cleanup)-[0-9]{1,4}$'
       and jsonb_typeof(c.value) in ('array', 'object') and octet_length(c.value::text) <= 16384
    returning *
  )
  insert into provisioning.dispatched_runs as d (job_id, task, number, run_id, answered, run_attempt)
  select s.job_id, s.task, s.number, (x.run ->> 'id')::bigint, bool_or(not x.run ? 'status'), max(provisioning.try_of(x.run))
    from sighting s cross join lateral jsonb_array_elements(s.runs) x(run)
   where x.run ->> 'id' ~ '^[1-9][0-9]{0,14}$'
   group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (job_id, task, number, run_id) do update
    set answered = d.answered or excluded.answered, run_attempt = greatest(d.run_attempt, excluded.run_attempt)
    where excluded.answered and not d.answered or excluded.run_attempt > d.run_attempt;
  return null;
end
$$;
comment on function provisioning.keep_sightings(jsonb) is 'Keeps GitHub''s reports about runs. Nullable: result.';
