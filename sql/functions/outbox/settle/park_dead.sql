-- Parks a dead row that may have arrived only if the system cannot settle it: its rail cannot ask the receiver, the receiver is not sure to
-- drop a repeat (any longer), and a double would not be harmless. A relay sends rows in doubt by the same rules
-- (src/outbox/dispatch/send.ts), so redriving all the others is safe. Money is always for a person to decide.
create or replace function outbox.park_dead() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  select s.carries_money
         or not (s.resend_blind
                 or exists (select from outbox.payloads m join outbox.rails r on r.rail_id = m.rail_id
                             where m.outbox_id = new.outbox_id
                               and (r.capability = 'lookup'
                                    or r.capability = 'idempotent'
                                       and coalesce(
                                             new.first_sent_at
                                               + (least(r.dedup_window_ms, 31622400000) - r.timeout_ms) * interval '1 ms' > now(), true))))
    into new.parked
    from outbox.streams s where s.stream_id = new.stream_id;
  return new;
end
$$;
comment on function outbox.park_dead() is 'Trigger: decides whether only a person may decide about a dead row in doubt.';
