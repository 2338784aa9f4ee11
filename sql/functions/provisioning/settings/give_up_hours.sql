-- How long a job waits for people before it fails permanently.
create or replace function provisioning.give_up_hours(p_workspace_id text) returns integer
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select s.give_up_hours from provisioning.settings s where s.workspace_id = p_workspace_id), 72);
$$;
comment on function provisioning.give_up_hours(text) is 'For how many hours a job waits for people.';
