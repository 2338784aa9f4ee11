-- Stores a person's own incoming webhook at Slack, or forgets it (null). Anyone who knows the address can write there, so it is sealed and
-- never shown again; and only Slack's own hosts are accepted, because relays send to it from inside the network.
create or replace function notify.set_slack_webhook(p_workspace_id text, p_member_id text, p_url text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_url is not null and p_url !~ '^https://hooks\.slack(-gov)?\.com/services/[A-Za-z0-9]{1,40}/[A-Za-z0-9]{1,40}/[A-Za-z0-9]{1,80}$' then
    perform headroom.fail('invalid_input', 'That is not the address of an incoming webhook of Slack.',
                          'https://hooks.slack.com/services/T…/B…/…', 'Copy it from the app''s settings in Slack. Nothing was changed.');
  end if;
  -- Locked, so that no webhook is stored for a member who is being removed.
  perform from directory.members m where m.workspace_id = p_workspace_id and m.id = p_member_id and m.active for key share;
  if not found then
    perform headroom.fail('not_found', 'There is no active member of that name in the workspace.', left(p_member_id, 80),
                          'Nothing was changed.');
  end if;
  if p_url is null then
    perform notify.forget_slack_webhook(p_workspace_id, p_member_id);
  else
    -- Lock the person first, in the same order as when a webhook is forgotten, so that no two wait for each other.
    insert into notify.people as w (workspace_id, member_id, slack_webhook) values (p_workspace_id, p_member_id, true)
    on conflict (workspace_id, member_id) do update set slack_webhook = true, updated_at = clock_timestamp();
    perform headroom.keep_box(notify.webhook_box(p_workspace_id, p_member_id),
                              format('Slack webhook of member %s of workspace %s', p_member_id, p_workspace_id), p_url);
  end if;
  return p_url is not null;
end
$$;
comment on function notify.set_slack_webhook(text, text, text)
  is 'Stores or forgets a person''s own webhook at Slack; whether they have one now. Nullable: p_url.';
