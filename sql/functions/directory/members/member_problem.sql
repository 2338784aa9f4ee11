-- Why a member cannot be stored, as "field: what would be right", or null. p_old is what the directory has, p_new what it would have after
-- p_changes.
create or replace function directory.member_problem(
  p_workspace_id text, p_id text, p_old directory.members, p_new directory.members, p_changes jsonb
) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_new.display_name is null or length(p_new.display_name) not between 1 and 200 or p_new.display_name ~ '[[:cntrl:]]'
      then 'display_name: 1 to 200 characters on one line'
    -- An address that was stored before there was a canonical form may stay.
    when p_new.email is distinct from p_old.email and p_new.email is not null and headroom.canonical_address(p_new.email) is null
      then 'email: ' || headroom.address_problem(p_new.email)
    when p_new.slack_user_id !~ '^[UW][A-Z0-9]{2,31}$' then 'slack_user_id: the id of a Slack user, such as U024BE7LH'
    when jsonb_typeof(p_changes -> 'without_slack') <> 'boolean' then 'without_slack: true or false'
    when p_new.without_slack_by is not null and p_new.slack_user_id is not null
      then 'without_slack: true only for a member who has no Slack user id'
    when p_new.roles is null or array_ndims(p_new.roles) > 1 or array_position(p_new.roles, null) is not null
         or not p_new.roles <@ array['requester', 'commercial', 'vp', 'operator', 'admin', 'auditor']
      then 'roles: any of requester, commercial, vp, operator, admin, auditor'
    when p_new.active is null then 'active: true or false'
    when p_new.delegate_id = p_id then 'delegate_id: another member'
    when (p_new.away_from is null) <> (p_new.away_until is null) or p_new.away_from >= p_new.away_until
      then 'away_from: both ends of the absence, the earlier one first'
    when p_changes ?| '{away_from,away_until}' and not (headroom.is_moment(p_new.away_from) and headroom.is_moment(p_new.away_until))
      then 'away_from: both ends of the absence must be in the years 1 to 9999'
    when p_new.delegate_id is not null
         and not exists (select from directory.members m where m.workspace_id = p_workspace_id and m.id = p_new.delegate_id and m.active)
      then 'delegate_id: an active member of the workspace'
    when exists (select from directory.members m
                  where m.workspace_id = p_workspace_id and m.id <> p_id
                    and (m.slack_user_id = p_new.slack_user_id or m.id = p_new.slack_user_id and m.active or m.slack_user_id = p_id))
      then 'slack_user_id: one that no other member has'
  end;
$$;
comment on function directory.member_problem(text, text, directory.members, directory.members, jsonb)
  is 'What is wrong with a member. Nullable: p_old, result.';
