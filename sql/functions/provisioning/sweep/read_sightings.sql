-- Applies GitHub's reports about a job's runs: where a run is, and that it ended without reporting. The run's own report may still be on
-- its way and says more, so it is waited for, but not once the attempt has ended.
create or replace function provisioning.read_sightings(p_job_id uuid) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_sighting provisioning.sightings;
begin
  for v_sighting in
    select s.* from provisioning.sightings s
     where s.job_id = p_job_id
       and (s.seen_at <= now() - interval '20 seconds'
            or exists (select from provisioning.attempts a
                        where a.job_id = s.job_id and a.task = s.task and a.number = s.number and a.ended_at is not null))
     order by s.seen_at
       for update skip locked
  loop
    delete from provisioning.sightings s where s.id = v_sighting.id;
    perform provisioning.read_sighting(v_sighting);
  end loop;
end
$$;
comment on function provisioning.read_sightings(uuid) is 'Applies GitHub''s reports about a job''s runs.';
