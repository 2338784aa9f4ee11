-- Refuses to stop an endpoint that alerts go to, and names the alerts: nobody would notice that an alert is not sent.
create or replace function webhooks.check_no_alerts(p_endpoint webhooks.endpoints) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_alerts text := (select string_agg(a.name, ', ' order by a.name) from webhooks.alerts a where a.endpoint_id = p_endpoint.id);
begin
  if v_alerts is not null then
    perform headroom.fail('conflict', format('Alerts go to the endpoint "%s".', p_endpoint.name), v_alerts,
      'Give them another endpoint, or remove them: headroom outbox alerts put <alert> --endpoint <other>. Nothing was changed.');
  end if;
end
$$;
comment on function webhooks.check_no_alerts(webhooks.endpoints) is 'Refuses while alerts go to an endpoint.';
