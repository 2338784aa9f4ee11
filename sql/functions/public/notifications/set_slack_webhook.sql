-- Sets or removes (null) a person's own incoming webhook at Slack, to which their notifications then go. It is a preference
-- and needs the same permission. The address is never shown again.
create or replace function public.set_slack_webhook(p_url text, p_member_id text default null, p_workspace_id text default null)
returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members := notify.person_for(p_member_id, p_workspace_id);
begin
  return notify.set_slack_webhook(v_member.workspace_id, v_member.id, p_url);
end
$$;
comment on function public.set_slack_webhook(text, text, text)
  is 'Sets or removes a person''s own Slack webhook; whether there is one now. Nullable: p_url, p_member_id, p_workspace_id.';
