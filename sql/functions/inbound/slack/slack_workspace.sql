-- The workspace that a receipt of Slack acts on; strangers are refused.
create or replace function inbound.slack_workspace(p_team_id text, p_enterprise_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := inbound.slack_home(p_team_id, p_enterprise_id);
begin
  if v_id is null then
    perform headroom.fail('not_allowed', 'This Slack workspace is not connected to Headroom.', coalesce(p_team_id, p_enterprise_id),
      'An operator connects it by its team id, in the settings of a workspace.');
  end if;
  return v_id;
end
$$;
comment on function inbound.slack_workspace(text, text) is 'The workspace that a Slack team or enterprise acts on, or a refusal.';
