-- Slack takes about one message a second per channel. The limit is set when a channel is first written to; whoever sets another
-- one later keeps it.
create or replace function capacity.slack_limit(p_channel text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from outbox.destinations d where d.name = 'slack:' || p_channel) then
    perform outbox.limit_destination('slack:' || p_channel, 1000);
  end if;
end
$$;
comment on function capacity.slack_limit(text) is 'Gives a Slack channel its rate limit on first use.';
