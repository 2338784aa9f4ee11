-- Expires the offers whose deadline has passed. Each in its own subtransaction, so that one failing row stops no other; rows
-- that somebody is deciding at this moment, or that another sweep has locked, are skipped.
--
-- A layer above may know that an answer is on its way, such as a payment that a bank is still processing. Then the offer is kept until
-- the time that the layer names, and checked again every five minutes, because the reason may disappear earlier.
create or replace function capacity.timer_expire(p_most integer, out expired integer, out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_answer record;
  v_seen integer := 0;
  v_hold_until timestamptz;
begin
  expired := 0;
  failed := '[]';
  for v_row in
    select r.id, f.request_id is not null as failed_before
      from capacity.requests r left join capacity.timer_failures f on f.request_id = r.id and f.timer = 'expiry'
      left join capacity.expiry_holds h on h.request_id = r.id
     where r.next_deadline_at <= now() and r.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and coalesce(f.retry_at, '-infinity') <= now()
       and coalesce(h.look_again_at, '-infinity') <= now()
     order by r.next_deadline_at limit p_most
       for update of r skip locked
  loop
    v_seen := v_seen + 1;
    begin
      select max(to_timestamp((a.value ->> 'hold_until')::double precision)) into v_hold_until
        from jsonb_each(headroom.run_hooks('capacity.expiry_due', jsonb_build_object('request_id', v_row.id))) a;
      if v_hold_until > now() then
        insert into capacity.expiry_holds as h (request_id, look_again_at)
        values (v_row.id, least(v_hold_until, now() + interval '5 minutes'))
        on conflict (request_id) do update set look_again_at = excluded.look_again_at;
        continue;
      end if;
      v_answer := capacity.decide(v_row.id, 'CUSTOMER_CONFIRMATION_TIMEOUT', capacity.timer_actor(), '{}');
      if v_row.failed_before then
        delete from capacity.timer_failures f where f.request_id = v_row.id and f.timer = 'expiry';
      end if;
      expired := expired + (not v_answer.repeated)::integer;
    exception when others then
      failed := failed || capacity.timer_failed(v_row.id, 'expiry', sqlstate, sqlerrm);
    end;
  end loop;
  more := v_seen = p_most;
end
$$;
comment on function capacity.timer_expire(integer) is 'Expires requests whose deadline has passed, a batch of them.';
