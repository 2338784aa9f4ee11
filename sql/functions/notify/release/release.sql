-- Sends a batch of what is due: the most important first, then what has waited longest. Things that belong together go into one message,
-- including what was told a moment ago. One release at a time sends to one person by one channel, so that a burst is not split; what others
-- are sending is left for the next, and if that is the whole batch, it tries the batch after it. `more`: it took a full batch and sent
-- something, so calling it again immediately is worthwhile. What is left stays due, and comes first next time.
create or replace function notify.release(p_most integer default 500, out released integer, out more boolean, out next_due timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- A plan that was made while there was little to do is kept, and must still be good when there is much.
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_now timestamptz;
  v_group record;
  v_told notify.notifications[];
  v_batch integer;
  v_done integer;
begin
  released := 0;
  -- First handle messages that were not delivered, because that can make some parts due again.
  v_done := notify.follow_endings(p_most);
  more := v_done >= p_most;
  v_now := clock_timestamp();
  for v_page in 0..9 loop
    v_batch := 0;
    for v_group in
      select d.workspace_id, d.recipient_kind, d.recipient, d.channel, d.merge_key,
             case when d.merge_key = '' then d.notification_id end as alone, count(*) as parts
        from notify.due_parts(v_now, p_most, v_page) d
       group by 1, 2, 3, 4, 5, 6
       order by max(d.priority) desc, min(d.due_at)
    loop
      v_batch := v_batch + v_group.parts;
      continue when not headroom.try_turn('notify.release:' || encode(sha256(convert_to(
        format('%s/%s/%s/%s', v_group.workspace_id, v_group.recipient_kind, v_group.recipient, v_group.channel), 'utf8')), 'hex'));
      -- Another release may have sent it since this batch was read: what was told after that is not due, and continues to wait.
      if v_group.alone is not null then
        select array_agg(n) into v_told
          from (select p.notification_id from notify.parts p
                 where p.state = 'held' and p.notification_id = v_group.alone and p.channel = v_group.channel and p.due_at <= v_now
                   for update skip locked) p
          join notify.notifications n on n.id = p.notification_id;
      else
        select array_agg(n order by n.priority desc, n.created_at, n.id) into v_told
          from (select p.notification_id, p.due_at from notify.parts p
                 where p.state = 'held' and p.workspace_id = v_group.workspace_id and p.recipient_kind = v_group.recipient_kind
                   and p.recipient = v_group.recipient and p.channel = v_group.channel and p.merge_key = v_group.merge_key
                 order by p.due_at <= v_now desc, p.priority desc, p.due_at limit 50
                   for update skip locked) p
          join notify.notifications n on n.id = p.notification_id
        having bool_or(p.due_at <= v_now);
      end if;
      continue when v_told is null;
      v_done := v_done + cardinality(v_told);
      released := released + notify.send_message(notify.still_wanted(v_told, v_group.channel), v_group.channel);
    end loop;
    more := more or v_batch >= p_most and v_done > 0;
    exit when v_batch < p_most or v_done > 0;
  end loop;
  -- By priority, as in the index.
  next_due := (select min(d.due_at)
                 from generate_series(0, 9) g
                cross join lateral (select p.due_at from notify.parts p where p.state = 'held' and p.priority = g::smallint
                                     order by p.due_at limit 1) d);
end
$$;
comment on function notify.release(integer) is 'Sends what is due, a batch of it. Nullable: next_due.';
