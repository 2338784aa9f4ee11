-- Whether a session is of Stripe's test mode although this installation takes money in earnest. The first that is told of in live mode is
-- noted.
create or replace function billing.is_play_money(p_session jsonb) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_session -> 'livemode' = 'true' then
    update billing.installation i set live_since = clock_timestamp() where i.live_since is null;
  end if;
  return p_session -> 'livemode' = 'false' and exists (select from billing.installation i where i.live_since is not null);
end
$$;
comment on function billing.is_play_money(jsonb) is 'Whether a session is paid with money of the test mode.';
