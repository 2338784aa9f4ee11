-- Trigger of capacity.subscriptions: recomputes the routes of the changed subscription; none if it was removed. As with
-- endpoints, the transaction holds its row lock.
create or replace function capacity.route_subscription() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    delete from capacity.routes r
     where r.workspace_id = old.workspace_id and r.name = 'file:' || old.endpoint
       and (tg_op = 'DELETE' or not exists (select from capacity.subscription_routes(new) w where w = r));
  end if;
  if tg_op <> 'DELETE' then
    insert into capacity.routes select w.* from capacity.subscription_routes(new) w on conflict do nothing;
  end if;
  return null;
end
$$;
comment on function capacity.route_subscription() is 'Recomputes the routes of a subscription.';
