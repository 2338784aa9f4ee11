-- Connects the workflows of a workspace, or changes how long they may take. Jobs that waited for it begin with the next sweep.
create or replace function provisioning.put_settings(p_workspace_id text, p_changes jsonb default '{}') returns provisioning.settings
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old provisioning.settings;
  v_new provisioning.settings;
  v_wrong text;
begin
  -- One at a time for each workspace: the second call starts from the first one's result.
  perform from directory.workspaces w where w.id = p_workspace_id for no key update;
  if not found then
    perform headroom.fail('not_found', 'There is no such workspace.', left(p_workspace_id, 80));
  end if;
  perform headroom.check_changes(p_changes, '{owner,repo,ref,provision_workflow,cleanup_workflow,callback_url,stale_minutes,limit_minutes,
    most_attempts,most_cleanups,retry_sla_hours,give_up_hours}');
  select s.* into v_old from provisioning.settings s where s.workspace_id = p_workspace_id for update;
  if v_old.workspace_id is null then
    v_old := jsonb_populate_record(null::provisioning.settings, '{"ref": "main", "provision_workflow": "provision.yml",
      "cleanup_workflow": "cleanup.yml", "stale_minutes": 10, "limit_minutes": 15, "most_attempts": 3, "most_cleanups": 3,
      "retry_sla_hours": 24, "give_up_hours": 72}');
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A setting has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  v_wrong := case
    when coalesce(v_new.owner !~ '^[A-Za-z0-9_-]{1,60}$', true) then 'owner: who owns the repository, such as acme'
    when coalesce(v_new.repo !~ '^[A-Za-z0-9_.-]{1,100}$' or v_new.repo in ('.', '..'), true)
      then 'repo: the name of the repository, such as infrastructure'
    when coalesce(v_new.ref !~ '^[A-Za-z0-9_./-]{1,200}$' or v_new.ref ~ '\.\.|^[/.-]', true)
      then 'ref: a branch or tag, such as main'
    when coalesce(v_new.provision_workflow !~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$', true)
      then 'provision_workflow: a file''s name, such as provision.yml'
    when coalesce(v_new.cleanup_workflow !~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$', true)
      then 'cleanup_workflow: a file''s name, such as cleanup.yml'
    when length(v_new.callback_url) > 500 or v_new.callback_url ~ '[^\u0021-\u007e]' or v_new.callback_url ~ '^[^/]*//[^/?#]*@'
         or v_new.callback_url !~ '^(https://|http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])[:/])'
      then 'callback_url: an address that begins with https:// and holds no password'
    when coalesce(v_new.stale_minutes, 0) not between 1 and 1440 then 'stale_minutes: 1 to 1440'
    when coalesce(v_new.limit_minutes, 0) not between v_new.stale_minutes and 10080 then 'limit_minutes: from stale_minutes to 10080'
    when coalesce(v_new.most_attempts, 0) not between 1 and 20 then 'most_attempts: 1 to 20'
    when coalesce(v_new.most_cleanups, 0) not between 1 and 20 then 'most_cleanups: 1 to 20'
    when coalesce(v_new.retry_sla_hours, 0) not between 1 and 8760 then 'retry_sla_hours: 1 to 8760'
    when coalesce(v_new.give_up_hours, 0) not between v_new.retry_sla_hours and 8760 then 'give_up_hours: from retry_sla_hours to 8760'
  end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the settings is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  v_new.workspace_id := p_workspace_id;
  v_new.updated_at := clock_timestamp();
  delete from provisioning.settings s where s.workspace_id = p_workspace_id;
  insert into provisioning.settings values (v_new.*);
  update provisioning.jobs j set next_look_at = clock_timestamp()
   where j.id in (select o.id from provisioning.jobs o where o.workspace_id = p_workspace_id and o.state = 'waiting'
                     for update skip locked);
  return v_new;
end
$$;
comment on function provisioning.put_settings(text, jsonb) is 'Connects a workspace''s workflows or changes their settings.';
