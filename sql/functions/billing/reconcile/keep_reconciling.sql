-- Begins a comparison every hour once any customer has been sent to pay; each goes back to a day before the last complete one began. A
-- longer one continues as long as its pages come; one that makes no progress is given up, so that the next can begin. A comparison that a
-- person asked for may begin anywhere, so it is not used as the last one. If only the events could not be read, for example for lack of
-- permission, the lists are not read from that far back again (ask_page). One sweep does this at a time; the others skip it.
create or replace function billing.keep_reconciling() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_since timestamptz;
begin
  if exists (select from billing.reconciliations r
              where r.asked_by = 'sweep' and (r.asked_at > now() - interval '1 hour'
                                              or r.finished_at is null and r.moved_at > now() - interval '1 hour'))
     or not exists (select from billing.checkouts)
     or not headroom.try_turn('billing.keep_reconciling') then
    return;
  end if;
  update billing.reconciliations r set finished_at = clock_timestamp()
   where r.finished_at is null and r.moved_at < now() - interval '1 hour';
  select coalesce(max(r.asked_at) filter (where r.asked_by = 'sweep' and (r.cursor is null or starts_with(r.cursor, 'changes:'))),
                  (select min(c.created_at) from billing.checkouts c)) - interval '1 day'
    into v_since from billing.reconciliations r;
  perform billing.begin_reconciliation('sweep', greatest(v_since, now() - interval '90 days'));
  perform billing.check_books();
  perform billing.ask_charges();
  delete from billing.reconciliations r where r.asked_at < now() - interval '90 days';
end
$$;
comment on function billing.keep_reconciling() is 'Begins the hourly comparison with Stripe when it is due, and checks the books.';
