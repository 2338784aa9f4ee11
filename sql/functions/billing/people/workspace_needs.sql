-- What each workspace needs in order to take money, for checks of the setup: how many prices apply, who submits for the wizard and whether
-- they still can, how many recent payments there are, and how many of them Stripe reported by webhook.
create or replace function billing.workspace_needs()
returns table (workspace_id text, prices bigint, self_service_requester text, requester_active boolean, payments bigint, told bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select w.id,
         (select count(*) from billing.prices p
           where p.workspace_id = w.id and p.withdrawn_at is null and p.valid_from <= clock_timestamp()),
         s.self_service_requester,
         exists (select from directory.members m where m.workspace_id = w.id and m.id = s.self_service_requester and m.active),
         n.payments, n.told
    from directory.workspaces w
    left join billing.settings s on s.workspace_id = w.id
   cross join lateral (
     select count(*) as payments, count(*) filter (where x.event_id like 'evt\_%') as told
       from (select p.event_id from billing.payments p where p.workspace_id = w.id order by p.recorded_at desc, p.id desc limit 20) x) n
   order by w.id;
$$;
comment on function billing.workspace_needs() is 'What each workspace needs in order to take money. Nullable: self_service_requester.';
