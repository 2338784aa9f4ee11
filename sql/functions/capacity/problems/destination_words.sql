-- The name of a receiver that the operators of a workspace know.
create or replace function capacity.destination_words(p_workspace_id text, p_destination text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_destination like 'endpoint:%' then coalesce((
      select format('the webhook endpoint %s', e.name) from webhooks.endpoints e
       where p_destination = 'endpoint:' || e.id and (e.tenant_id is null or e.tenant_id = p_workspace_id)), 'a webhook endpoint')
    when p_destination like 'email:%' then 'the mail server'
    when p_destination like 'slack:webhook:%' then coalesce((
      select format('the Slack webhook of %s', m.display_name) from directory.members m
       where m.workspace_id = p_workspace_id and p_destination = format('slack:webhook:%s/%s', m.workspace_id, m.id)),
      'a person''s Slack webhook')
    when p_destination like 'slack:%' then format('Slack (%s)', substr(p_destination, 7))
    when p_destination like 'github:%' then format('GitHub (%s)', substr(p_destination, 8))
    when p_destination = 'linear' then 'Linear'
    when p_destination = 'stripe' then 'Stripe'
    else p_destination end;
$$;
comment on function capacity.destination_words(text, text) is 'A receiver in words.';
