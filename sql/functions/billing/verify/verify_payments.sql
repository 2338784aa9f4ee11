-- One batch of the verification of money (I8), in the order of the payments' ids. The next batch begins after last_id; the last batch has
-- last_id null, and also looks for requests that were confirmed without a payment, and for unresolved findings. Stable on purpose: each
-- call is one snapshot, and nothing is held between calls.
create or replace function billing.verify_payments(
  p_after text default '', p_limit integer default 2000, p_workspace_id text default null,
  out last_id text, out payments bigint, out findings jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
  v_ids uuid[];
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 100000 payments.');
  elsif p_after !~ '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$' then
    perform headroom.fail('invalid_input', 'A batch begins after the id of a payment.');
  end if;
  select count(*), (array_agg(q.id order by q.id desc))[1]::text, array_agg(q.id) into payments, last_id, v_ids
    from (select p.id from billing.payments p
           where (coalesce(p_after, '') = '' or p.id > nullif(p_after, '')::uuid)
             and (p_workspace_id is null or p.workspace_id = p_workspace_id)
           order by p.id limit p_limit) q;
  last_id := case when payments = p_limit then last_id end;
  select coalesce(jsonb_agg(to_jsonb(f) order by f.subject, f.code), '[]') into findings
    from (select * from billing.verify_books(v_ids)
          union all
          select * from billing.verify_refunds(v_ids)
          union all
          select * from billing.verify_confirmations(v_ids)
          union all
          select 'I8', 'unpaid_confirmation', r.id, 'the request has a price and was confirmed, but no payment of it counts'
            from capacity.requests r
           where last_id is null and r.offer is not null and (p_workspace_id is null or r.workspace_id = p_workspace_id)
             and exists (select from capacity.events e where e.request_id = r.id and e.event_type = 'CUSTOMER_CONFIRMED')
             and not exists (select from billing.payments p where p.request_id = r.id and p.counts and p.purpose <> 'renewal')
          union all
          select 'I8', 'open_finding', coalesce(x.request_id, x.stripe_id), format('%s (%s): %s', x.kind, x.stripe_id, x.said)
            from billing.findings x
           where last_id is null and x.resolved_at is null and (p_workspace_id is null or x.workspace_id = p_workspace_id)) f;
end
$$;
comment on function billing.verify_payments(text, integer, text) is 'Verifies a batch of payments. Nullable: last_id.';
