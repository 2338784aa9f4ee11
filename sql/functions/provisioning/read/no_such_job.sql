-- The same refusal for a job that does not exist, one of another workspace, and one that the caller may not see.
create or replace function provisioning.no_such_job(p_id text) returns headroom.refusal
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return row('not_found', 'There is no such job, or you may not see it.', left(p_id, 80),
             'Name it by its id, or by the id of its request, such as CR-2026-000042.')::headroom.refusal;
end
$$;
comment on function provisioning.no_such_job(text)
  is 'The refusal not_found, in the same words for every job that the caller may not know of.';
