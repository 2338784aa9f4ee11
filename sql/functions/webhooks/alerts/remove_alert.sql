-- Removes an alert. What it raised stays open at its receiver; no message closes it.
create or replace function webhooks.remove_alert(p_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from webhooks.alerts a where a.name = p_name;
  if not found then
    perform headroom.fail('not_found', format('There is no alert "%s".', left(p_name, 64)), null,
      'List those there are: headroom outbox alerts list');
  end if;
end
$$;
comment on function webhooks.remove_alert(text) is 'Removes an alert.';
