-- Changes how a workspace takes money: settings that p_changes does not name keep their values.
create or replace function billing.put_settings(p_workspace_id text, p_changes jsonb default '{}') returns billing.settings
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_new billing.settings;
  v_wrong text;
begin
  -- One at a time for each workspace: the second call starts from the first one's result.
  perform from directory.workspaces w where w.id = p_workspace_id for no key update;
  if not found then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  end if;
  perform headroom.check_changes(p_changes, '{currency,session_minutes,hold_days,grace_days,self_service_requester}');
  begin
    v_new := jsonb_populate_record(billing.settings_of(p_workspace_id), p_changes);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A setting has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  v_wrong := case
    when billing.currency_digits(v_new.currency) is null then 'currency: one that Stripe accepts, in capital letters, such as USD'
    when coalesce(v_new.session_minutes, 0) not between 30 and 1440 then 'session_minutes: 30 to 1440, which are Stripe''s limits'
    when coalesce(v_new.hold_days, 0) not between 1 and 60 then 'hold_days: 1 to 60'
    when coalesce(v_new.grace_days, -1) not between 0 and 90 then 'grace_days: 0 to 90'
    when v_new.self_service_requester is not null
         and not exists (select from directory.members m
                          where m.workspace_id = p_workspace_id and m.id = v_new.self_service_requester and m.active)
      then 'self_service_requester: an active member of the workspace, or null to close the wizard'
  end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the settings is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  v_new.updated_at := clock_timestamp();
  delete from billing.settings s where s.workspace_id = p_workspace_id;
  insert into billing.settings values (v_new.*);
  return v_new;
end
$$;
comment on function billing.put_settings(text, jsonb) is 'Changes how a workspace takes money.';
