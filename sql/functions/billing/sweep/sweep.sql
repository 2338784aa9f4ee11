-- Hook of capacity.swept: reads Stripe's answers, then does what is due, each in its own subtransaction, so that one bad row stops no
-- other. Requests and turns that somebody holds right now are left for the next time.
create or replace function billing.sweep(p_argument jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_max integer := coalesce((p_argument ->> 'most')::integer, 200);
  v_read record := billing.read_sightings(v_max);
  v_row record;
  v_seen integer := 0;
  v_failed jsonb := v_read.failed;
begin
  for v_row in
    select d.kind, d.id, d.request_id, r.workspace_id, f.request_id is not null as failed_before
      from billing.due d
      join capacity.requests r on r.id = d.request_id
      left join capacity.timer_failures f on f.request_id = d.request_id and f.timer = 'billing'
     where d.next_look_at <= now() and coalesce(f.retry_at, '-infinity') <= now()
     order by d.next_look_at limit v_max
       for update of r skip locked
  loop
    v_seen := v_seen + 1;
    continue when not provisioning.lock_turn(v_row.workspace_id, capacity.customer_key_of(v_row.request_id), false);
    begin
      if v_row.kind = 'checkout' then
        perform billing.look_at_checkout(v_row.id);
      elsif v_row.kind = 'payment' then
        perform billing.look_at_payment(v_row.id);
      elsif v_row.kind = 'refund' then
        perform billing.look_at_refund(v_row.id);
      else
        perform billing.look_at_subscription(v_row.id);
      end if;
      if v_row.failed_before then
        delete from capacity.timer_failures f where f.request_id = v_row.request_id and f.timer = 'billing';
      end if;
    exception when others then
      v_failed := v_failed || capacity.timer_failed(v_row.request_id, 'billing', sqlstate, sqlerrm);
    end;
  end loop;
  perform billing.keep_reconciling();
  perform billing.forget_drafts();
  return jsonb_build_object('billing', jsonb_build_object(
    'moved', v_read.moved + v_seen, 'failed', v_failed, 'more', v_seen = v_max or v_read.seen = v_max and v_read.moved > 0));
end
$$;
comment on function billing.sweep(jsonb) is 'Does a batch of what is due for money.';
