-- Makes a workspace, or changes the settings that are given: fields that p_changes does not name stay as they are, null empties one.
create or replace function directory.put_workspace(p_id text, p_changes jsonb default '{}') returns directory.workspaces
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old directory.workspaces;
  v_new directory.workspaces;
  v_wrong text;
begin
  if p_id is null or p_id !~ '^[a-z0-9][a-z0-9-]{0,62}$' then
    perform headroom.fail('invalid_input', 'The id of a workspace is 1 to 63 lower-case letters, digits and dashes.', left(p_id, 80));
  end if;
  perform headroom.check_changes(p_changes, '{name,public_url,slack_channel_id,slack_channel_ids,slack_team_id,slack_enterprise_id,
    linear_team_id,linear_actor_id,slack_users_become_requesters,warn_before_hours,review_sla_hours,
    remind_every_hours,most_reminders,nudge_every_minutes,acts_per_hour}');
  select * into v_old from directory.workspaces w where w.id = p_id for update;
  if not found then
    -- An engine without the product accepts any tenant: things made for an unrelated tenant of this name must not become the new
    -- workspace's.
    if exists (select from webhooks.endpoints e where e.tenant_id = p_id) then
      perform headroom.fail('conflict', format('Endpoints were made for a tenant "%s" before there was such a workspace.', p_id), null,
        'Nothing was changed. Remove them (headroom endpoint list), or choose another id.');
    end if;
    v_old := jsonb_populate_record(null::directory.workspaces,
                                   jsonb_build_object('name', p_id, 'slack_channel_ids', '[]'::jsonb,
                                                      'slack_users_become_requesters', true,
      'warn_before_hours', 48, 'review_sla_hours', 24, 'remind_every_hours', 24, 'most_reminders', 3, 'nudge_every_minutes', 60,
      'acts_per_hour', 300));
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A setting of the workspace has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;

  v_wrong := case
    when v_new.name is null or length(v_new.name) not between 1 and 200 then 'name: 1 to 200 characters'
    when length(v_new.public_url) > 500 or v_new.public_url !~ '^https?://[^\s]+$' then 'public_url: an address that begins with https://'
    when v_new.slack_channel_id !~ '^[A-Z0-9]{2,32}$' then 'slack_channel_id: the id of a channel, such as C024BE91L'
    when v_new.slack_channel_ids is null or cardinality(v_new.slack_channel_ids) > 100
         or array_to_string(v_new.slack_channel_ids, ' ', '?') !~ '^([A-Z0-9]{2,32}( |$))*$'
           then 'slack_channel_ids: up to 100 ids of channels, such as C024BE91L'
    when v_new.slack_team_id !~ '^T[A-Z0-9]{2,31}$' then 'slack_team_id: the id of a Slack workspace, such as T024BE7LD'
    when v_new.slack_enterprise_id !~ '^E[A-Z0-9]{2,31}$' then 'slack_enterprise_id: the id of an Enterprise Grid, such as E024BE7LD'
    when exists (select from directory.workspaces w
                  where w.id <> p_id and (w.slack_team_id = v_new.slack_team_id or w.slack_enterprise_id = v_new.slack_enterprise_id))
      then 'slack_team_id: another workspace has it already'
    when length(v_new.linear_team_id) not between 1 and 64 then 'linear_team_id: 1 to 64 characters'
    when length(v_new.linear_actor_id) not between 1 and 64 then 'linear_actor_id: 1 to 64 characters'
    when v_new.slack_users_become_requesters is null then 'slack_users_become_requesters: true or false'
    when coalesce(v_new.warn_before_hours, 0) not between 1 and 8760 then 'warn_before_hours: 1 to 8760'
    when coalesce(v_new.review_sla_hours, 0) not between 1 and 8760 then 'review_sla_hours: 1 to 8760'
    when coalesce(v_new.remind_every_hours, 0) not between 1 and 8760 then 'remind_every_hours: 1 to 8760'
    when coalesce(v_new.most_reminders, -1) not between 0 and 100 then 'most_reminders: 0 to 100'
    when coalesce(v_new.nudge_every_minutes, 0) not between 1 and 10080 then 'nudge_every_minutes: 1 to 10080'
    when v_new.acts_per_hour not between 1 and 10000 then 'acts_per_hour: 1 to 10000, or null for no limit'
  end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the workspace is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  insert into directory.workspaces as w (id, name, public_url, slack_channel_id, linear_team_id, slack_users_become_requesters,
                                         warn_before_hours,
                                        review_sla_hours, remind_every_hours, most_reminders, nudge_every_minutes,
                                        slack_team_id, slack_enterprise_id, linear_actor_id, slack_channel_ids, acts_per_hour)
  values (p_id, v_new.name, v_new.public_url, v_new.slack_channel_id, v_new.linear_team_id, v_new.slack_users_become_requesters,
          v_new.warn_before_hours,
          v_new.review_sla_hours, v_new.remind_every_hours, v_new.most_reminders, v_new.nudge_every_minutes,
          v_new.slack_team_id, v_new.slack_enterprise_id, v_new.linear_actor_id, v_new.slack_channel_ids,
          v_new.acts_per_hour)
  on conflict (id) do update
    set name = excluded.name, public_url = excluded.public_url, slack_channel_id = excluded.slack_channel_id,
        linear_team_id = excluded.linear_team_id,
        slack_users_become_requesters = excluded.slack_users_become_requesters, warn_before_hours = excluded.warn_before_hours,
        review_sla_hours = excluded.review_sla_hours, remind_every_hours = excluded.remind_every_hours,
        most_reminders = excluded.most_reminders,
        nudge_every_minutes = excluded.nudge_every_minutes, slack_team_id = excluded.slack_team_id,
        slack_enterprise_id = excluded.slack_enterprise_id, linear_actor_id = excluded.linear_actor_id,
        slack_channel_ids = excluded.slack_channel_ids, acts_per_hour = excluded.acts_per_hour
  returning w.* into v_new;
  return v_new;
end
$$;
comment on function directory.put_workspace(text, jsonb) is 'Makes a workspace or changes its settings.';
