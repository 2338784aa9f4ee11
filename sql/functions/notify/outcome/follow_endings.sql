-- Handles messages that ended without having been delivered, a batch of them; returns how many. If a message came too late because of one
-- thing in it, the other things are sent again; an address that the server does not know is suppressed; a webhook that is gone is
-- forgotten. Everything else that was given up stays a dead letter for an operator. Layers above do what they noted for this moment.
--
-- Each in its own subtransaction: one that fails is tried again in ten minutes, and stops no other notification. Failures that pass
-- automatically, such as a deadlock, are for the caller to try again. One caller at a time: two might find the same bad addresses in a
-- different order, and wait for each other.
create or replace function notify.follow_endings(p_most integer) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ending record;
  v_count integer := 0;
begin
  if not headroom.try_turn('notify.follow_endings') then
    return 0;
  end if;
  for v_ending in
    select d.id, e.outbox_id, e.code
      from notify.endings e left join notify.deliveries d on d.outbox_id = e.outbox_id
     where e.ended_at <= v_now
     order by e.ended_at limit p_most for update of e skip locked
  loop
    v_count := v_count + 1;
    begin
      if v_ending.code = 'expired' then
        update notify.parts p
           set state = case when p.expires_at <= v_now then 'dropped' else 'held' end,
               reason = case when p.expires_at <= v_now then 'expired' end,
               delivery_id = null, due_at = v_now
         where p.delivery_id = v_ending.id and p.state = 'carried';
      elsif v_ending.code = 'recipient_refused' then
        perform notify.record_outcome(v_ending.outbox_id, 'bounced', 'rejected', 'The mail server knows no such mailbox.');
      elsif v_ending.code in ('webhook_gone', 'webhook_unknown') and v_ending.id is not null then
        perform notify.webhook_gone(v_ending.id);
      end if;
      delete from notify.endings e where e.outbox_id = v_ending.outbox_id;
    exception
      when transaction_rollback or lock_not_available or operator_intervention or insufficient_resources then
        raise;
      when others or assert_failure then
        raise warning 'What follows from the end of % (%) fails: %', v_ending.outbox_id, v_ending.code, sqlerrm using errcode = sqlstate;
        update notify.endings e set ended_at = v_now + interval '10 minutes' where e.outbox_id = v_ending.outbox_id;
    end;
  end loop;
  perform headroom.run_hooks('notify.following', jsonb_build_object('most', p_most));
  return v_count;
end
$$;
comment on function notify.follow_endings(integer) is 'Handles messages that ended undelivered; how many there were.';
