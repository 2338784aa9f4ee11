-- Hook of outbox.captured: what GitHub said about runs is left for the sweep. Settling holds lanes, so nothing else is touched here.
create or replace function provisioning.keep_sightings(p_captures jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into provisioning.sightings (job_id, task, number, runs)
  select split_part(c.key, ':', 2)::uuid, split_part(c.name, '-', 1), split_part(c.name, '-', 2)::smallint,
         case jsonb_typeof(c.value) when 'array' then c.value else jsonb_build_array(c.value) end
    from jsonb_to_recordset(p_captures) c(stream text, key text, name text, value jsonb, rail text)
   where c.stream = 'provisioning' and c.rail = 'github-actions'
     and c.key ~ '^(job|watch):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
     and c.name ~ '^(provision|cleanup)-[0-9]{1,4}$'
     and jsonb_typeof(c.value) in ('array', 'object') and octet_length(c.value::text) <= 16384;
  return null;
end
$$;
comment on function provisioning.keep_sightings(jsonb) is 'Keeps what relays learnt of runs. Nullable: result.';
