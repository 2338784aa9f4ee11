-- Adds a member to the directory, or changes the given fields: fields that p_changes does not name stay as they are, null empties a
-- field. `active: false` removes the member and changes nothing else.
--
-- A removed member comes back only by `active: true`, and only with what is given with it: the log names the previous holder of the id, so
-- the caller must confirm that this is the same person. Layers above refuse while something of theirs still names the id.
--
-- If a person used Slack before an admin linked them to their Slack user, that made a member of its own. That member is removed then, if
-- nothing depends on it and no request of theirs is open; the log continues to name it.
create or replace function directory.put_member(p_workspace_id text, p_id text, p_changes jsonb default '{}') returns directory.members
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old directory.members;
  v_new directory.members;
  v_wrong text;
  v_made text;
  v_ended record;
begin
  -- One change of a directory at a time.
  perform from directory.workspaces w where w.id = p_workspace_id for no key update;
  if not found then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  elsif p_id is null or p_id !~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$' then
    perform headroom.fail('invalid_input', 'The id of a member is 1 to 63 letters, digits, dots, dashes, underscores or @ signs.',
                          left(p_id, 80));
  end if;
  perform headroom.check_changes(p_changes, '{display_name,email,slack_user_id,without_slack,roles,delegate_id,away_from,away_until,
    active}');
  select * into v_old from directory.members m where m.workspace_id = p_workspace_id and m.id = p_id for update;
  begin
    v_new := jsonb_populate_record(
      case when v_old.active then v_old
           else jsonb_populate_record(null::directory.members,
                                      jsonb_build_object('display_name', p_id, 'roles', array['requester'], 'active', true)) end,
      p_changes);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A field of the member has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;

  if v_new.active is false then
    if p_changes - 'active' <> '{}' then
      perform headroom.fail('invalid_input', 'A member cannot be changed and removed in one call.', 'pass active alone',
                            'Nothing was changed.');
    end if;
    perform directory.remove_member(p_workspace_id, p_id);
    select * into v_new from directory.members m where m.workspace_id = p_workspace_id and m.id = p_id;
    return v_new;
  elsif v_old.active is false then
    if not p_changes ? 'active' then
      perform headroom.fail('conflict', format('"%s" was removed from the directory.', p_id), null,
        'The log names whoever had this id. For the same person, pass active: true (headroom members put --back); '
        'otherwise choose another id. Nothing was changed.');
    end if;
    perform headroom.run_hooks('directory.member_returned', jsonb_build_object('workspace_id', p_workspace_id, 'member_id', p_id));
    -- Ends what was issued since the removal, or was left by a removal that ended less.
    perform directory.remove_member(p_workspace_id, p_id);
  end if;

  if p_changes ?| '{slack_user_id,without_slack}' then
    v_new.without_slack_by := case when p_changes -> 'without_slack' = 'true' then coalesce(v_old.without_slack_by, session_user) end;
    v_new.without_slack_at := case when v_new.without_slack_by is not null then coalesce(v_old.without_slack_at, clock_timestamp()) end;
  end if;
  select m.id into v_made from directory.members m
   where m.workspace_id = p_workspace_id and m.slack_user_id = v_new.slack_user_id and m.id <> p_id and m.by_slack;
  if found then
    v_ended := directory.remove_member(p_workspace_id, v_made);
    if v_ended.roles <@ '{requester}' and v_ended.left_groups = '{}' and v_ended.accounts = 0 and v_ended.api_keys = '{}'
       and v_ended.delegators = '{}'
       and not exists (select from jsonb_each(v_ended.left_behind) e where e.value not in ('0', '[]', 'null')) then
      perform directory.take_account(p_workspace_id, 'slack', v_new.slack_user_id, p_id);
    else
      perform headroom.fail('conflict',
        format('That Slack user is the member "%s", who has roles, groups, keys or accounts, or whom others or rules name.', v_made), null,
        format('Remove them first, which says what ends: headroom members remove %s. Nothing was changed.', v_made));
    end if;
  end if;

  v_wrong := directory.member_problem(p_workspace_id, p_id, v_old, v_new, p_changes);
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the member is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  insert into directory.members as m (workspace_id, id, display_name, email, slack_user_id, without_slack_by, without_slack_at, roles,
                                      delegate_id, away_from, away_until, active)
  values (p_workspace_id, p_id, v_new.display_name, v_new.email, v_new.slack_user_id, v_new.without_slack_by, v_new.without_slack_at,
          v_new.roles, v_new.delegate_id, v_new.away_from, v_new.away_until, v_new.active)
  on conflict (workspace_id, id) do update
    set display_name = excluded.display_name, email = excluded.email, slack_user_id = excluded.slack_user_id,
        without_slack_by = excluded.without_slack_by, without_slack_at = excluded.without_slack_at, roles = excluded.roles,
        delegate_id = excluded.delegate_id, away_from = excluded.away_from, away_until = excluded.away_until, active = excluded.active
  returning m.* into v_new;
  perform directory.take_account(p_workspace_id, 'slack', v_new.slack_user_id, p_id);
  -- Otherwise a person with the account that was given up would become another member by it.
  insert into directory.ended_accounts as e (workspace_id, issuer, subject, member_id)
  select p_workspace_id, 'slack', v_old.slack_user_id, p_id
   where v_old.slack_user_id <> v_new.slack_user_id or v_old.slack_user_id is not null and v_new.slack_user_id is null
  on conflict (workspace_id, issuer, subject) do update set member_id = excluded.member_id, ended_at = excluded.ended_at;
  return v_new;
exception when unique_violation then
  perform headroom.fail('conflict', 'Another member has just been given this Slack id.', null,
                        'Check the directory again. Nothing was changed.');
end
$$;
comment on function directory.put_member(text, text, jsonb) is 'Adds a member to the directory or changes one.';
