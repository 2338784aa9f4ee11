-- Checks whether recent money adds up, and records what does not: a verification may not be run for months, and people should know today.
create or replace function billing.check_books() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := array(select p.id from billing.payments p where p.recorded_at > now() - interval '3 days' order by p.recorded_at desc
                         limit 5000);
begin
  insert into billing.findings (kind, stripe_id, workspace_id, request_id, said, event_id)
  select distinct on (p.id) 'books', p.id::text, p.workspace_id, p.request_id, left(format('%s: %s', f.code, f.detail), 500), 'sweep'
    from (select * from billing.verify_books(v_ids)
          union all
          select * from billing.verify_refunds(v_ids)) f
    join billing.payments p on p.id = any (v_ids)
     and (p.id::text = f.subject or p.request_id = f.subject
          or exists (select from billing.refunds r where r.payment_id = p.id and r.id::text = f.subject))
   order by p.id
  on conflict (kind, stripe_id, said) do nothing;
end
$$;
comment on function billing.check_books() is 'Records where recent money does not add up.';
