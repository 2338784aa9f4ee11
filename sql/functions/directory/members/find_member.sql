-- A member by id, or by a bare Slack id, which is mapped here so that the log holds member ids only. Never by e-mail: an address proves
-- nothing. Inactive members are found too; the caller decides whether that matters. If a removed member's id is the Slack id of another
-- member, for example one who was linked to their Slack user later, that other member is meant.
create or replace function directory.find_member(p_workspace_id text, p_id text) returns directory.members
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members;
  v_by_slack directory.members;
begin
  select m.* into v_member from directory.members m where m.workspace_id = p_workspace_id and m.id = p_id;
  if p_id ~ '^[UW][A-Z0-9]{2,31}$' then
    select m.* into v_by_slack from directory.members m where m.workspace_id = p_workspace_id and m.slack_user_id = p_id;
    if v_by_slack.id <> v_member.id and v_member.active then
      perform headroom.fail('not_allowed', format('Two members match "%s": one by id, another by Slack id.', p_id), null,
        'Name the member by an id that is nobody else''s Slack id.');
    end if;
  end if;
  return case when v_member.id is null or not v_member.active and v_by_slack.id is not null then v_by_slack else v_member end;
end
$$;
comment on function directory.find_member(text, text) is 'The member with this id or Slack id in a workspace, active or not; or null.';
