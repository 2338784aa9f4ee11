-- Removes a member from the directory, with everything by which a person could act as them: accounts, keys, sessions, the Slack user,
-- roles, groups, delegations. The log names members forever, so the row stays, with only the name; the next holder of the id starts with
-- nothing. This is the only way to remove a member; a repeat changes nothing, but ends what was issued since.
--
-- The answer says what ended, and what now waits for another person: those whose delegate this was, and in left_behind what layers above
-- report.
create or replace function directory.remove_member(
  p_workspace_id text, p_id text, out member_id text, out left_groups text[], out roles text[], out slack_user_id text,
  out accounts bigint,
  out api_keys text[], out delegators text[], out left_behind jsonb
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- One change of a directory at a time: a member who is being removed cannot become a delegate.
  perform from directory.workspaces w where w.id = p_workspace_id for no key update;
  select m.id, m.roles, m.slack_user_id into member_id, roles, slack_user_id
    from directory.members m where m.workspace_id = p_workspace_id and m.id = p_id for update;
  if not found then
    perform headroom.fail('not_found', format('There is no member "%s" in this workspace.', left(p_id, 64)), null,
                          'List members: headroom members list');
  end if;

  with gone as (
    delete from directory.group_members g where g.workspace_id = p_workspace_id and g.member_id = p_id returning g.group_id
  )
  select coalesce(array_agg(g.group_id order by g.group_id), '{}') into left_groups from gone g;
  with gone as (
    delete from directory.identities i where i.workspace_id = p_workspace_id and i.member_id = p_id returning i.issuer, i.subject
  ), ended as (
    insert into directory.ended_accounts as e (workspace_id, issuer, subject, member_id)
    select p_workspace_id, g.issuer, g.subject, p_id from gone g
    union all
    select p_workspace_id, 'slack', remove_member.slack_user_id, p_id where remove_member.slack_user_id is not null
    on conflict (workspace_id, issuer, subject) do update set member_id = excluded.member_id, ended_at = excluded.ended_at
  )
  select count(*) into accounts from gone;
  with revoked as (
    update directory.api_keys k set revoked_at = clock_timestamp()
     where k.workspace_id = p_workspace_id and k.member_id = p_id and k.revoked_at is null
    returning k.id
  )
  select coalesce(array_agg(r.id order by r.id), '{}') into api_keys from revoked r;
  with freed as (
    update directory.members m set delegate_id = null where m.workspace_id = p_workspace_id and m.delegate_id = p_id
      returning m.id, m.active
  )
  select coalesce(array_agg(f.id order by f.id) filter (where f.active), '{}') into delegators from freed f;
  update directory.members m
     set active = false, email = null, slack_user_id = null, without_slack_by = null, without_slack_at = null, roles = '{}',
         delegate_id = null, away_from = null, away_until = null, signed_out_at = clock_timestamp(), tokens_from = clock_timestamp()
   where m.workspace_id = p_workspace_id and m.id = p_id;

  left_behind := headroom.run_hooks('directory.member_removed', jsonb_build_object(
                   'workspace_id', p_workspace_id, 'member_id', p_id, 'slack_user_id', slack_user_id));
end
$$;
comment on function directory.remove_member(text, text)
  is 'Removes a member, and returns what ended and what waited on them. Nullable: slack_user_id.';
