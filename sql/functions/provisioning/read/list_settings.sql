-- The connected workflows, for operators: without secrets, but with whether the callback secret exists and can be read here.
create or replace function provisioning.list_settings() returns table (
  workspace_id text, owner text, repo text, ref text, provision_workflow text, cleanup_workflow text, callback_address text,
  stale_minutes integer, limit_minutes integer, most_attempts smallint, most_cleanups smallint, retry_sla_hours integer,
  give_up_hours integer, secret text
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select s.workspace_id, s.owner, s.repo, s.ref, s.provision_workflow, s.cleanup_workflow, provisioning.callback_address(s.workspace_id),
         s.stale_minutes, s.limit_minutes, s.most_attempts, s.most_cleanups, s.retry_sla_hours, s.give_up_hours,
         case when headroom.open_box(provisioning.secret_name(s.workspace_id)) is not null then 'readable'
              when exists (select from headroom.boxes b where b.name = provisioning.secret_name(s.workspace_id)) then 'unreadable'
              else 'missing' end
    from provisioning.settings s order by s.workspace_id;
$$;
comment on function provisioning.list_settings() is 'The connected workflows of each workspace. Nullable: callback_address.';
