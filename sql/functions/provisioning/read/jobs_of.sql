-- The jobs of a request, for those who may read it: one, or none.
create or replace function provisioning.jobs_of(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return (
    select coalesce(jsonb_agg(provisioning.job_json(j)), '[]') from provisioning.jobs j where j.request_id = p_request_id
  );
end
$$;
comment on function provisioning.jobs_of(text) is 'The jobs of a request.';
