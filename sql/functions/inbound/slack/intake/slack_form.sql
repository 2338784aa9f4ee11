-- Opens the form for a new request, prefilled with what was typed after the command.
create or replace function inbound.slack_form(p_receipt jsonb, p_member directory.members, p_fields jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields jsonb := p_fields;
begin
  -- The menu of people takes only Slack ids.
  if v_fields ? 'owner' then
    v_fields := v_fields || jsonb_build_object(
      'owner', coalesce((directory.find_member(p_member.workspace_id, v_fields ->> 'owner')).slack_user_id, ''));
  end if;
  perform inbound.slack_open(p_receipt, inbound.render_intake(v_fields,
    (select coalesce(jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) order by g.id), '[]') from directory.groups g
      where g.workspace_id = p_member.workspace_id),
    p_receipt ->> 'channel', p_receipt ->> 'id'));
  return inbound.slack_reply('Opening the form. If it does not appear, try again, or submit by text: '
    || '`/capacity create 32XL x4 us-east-1 for Acme by 2026-12-01`. `/capacity help` shows more.', 'opened');
end
$$;
comment on function inbound.slack_form(jsonb, directory.members, jsonb) is 'Opens the form for a new request and says so.';
