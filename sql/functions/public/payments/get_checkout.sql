-- The state of an offer's payment, for the holder of the link: the newest checkout, or null. A checkout that is older than the link was
-- made for somebody at another address, and is not shown. Changes nothing.
create or replace function public.get_checkout(p_token text) returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select billing.checkout_json(c) || case when c.created_at < t.created_at then '{"url": null}' else '{}' end::jsonb
    from capacity.find_confirmation(p_token) t
    join billing.checkouts c on c.request_id = t.request_id
   order by c.number desc limit 1;
$$;
comment on function public.get_checkout(text) is 'The newest checkout of an offer, by its link. Nullable: result.';
