-- The rail by which a message goes: in Slack, a person's own webhook before the bot.
create or replace function notify.rail_of(p_channel text, p_address text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case when p_channel = 'slack' and p_address like 'webhook:%' then 'slack-webhook' else p_channel end;
$$;
comment on function notify.rail_of(text, text) is 'The rail by which a message goes.';
