-- Forgets a person's own webhook; from then on the bot writes to them, if Slack knows them.
create or replace function notify.forget_slack_webhook(p_workspace_id text, p_member_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  update notify.people w set slack_webhook = false, updated_at = clock_timestamp()
   where w.workspace_id = p_workspace_id and w.member_id = p_member_id and w.slack_webhook;
  if found then
    perform headroom.forget_in_vault(headroom.drop_boxes(array[notify.webhook_box(p_workspace_id, p_member_id)]));
  end if;
end
$$;
comment on function notify.forget_slack_webhook(text, text) is 'Forgets a person''s own webhook at Slack.';
