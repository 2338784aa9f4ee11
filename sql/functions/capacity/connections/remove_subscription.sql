-- Ends a subscription. Events already enqueued for the endpoint are still sent.
create or replace function capacity.remove_subscription(p_workspace_id text, p_endpoint text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from capacity.subscriptions s where s.workspace_id = p_workspace_id and s.endpoint = p_endpoint;
  if not found then
    perform headroom.fail('not_found', format('The endpoint "%s" is not subscribed in this workspace.', left(p_endpoint, 64)), null,
      'List them: headroom endpoint subscriptions');
  end if;
end
$$;
comment on function capacity.remove_subscription(text, text) is 'Ends the subscription of an endpoint.';
