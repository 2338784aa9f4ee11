-- Gives up rows of streams that forget, so many minutes after they expired: unfinished rows, dead letters and parked ones too. Their
-- payload is erased with the salt of its hash. The archive keeps what happened. A row that is being sent is left for the next time.
--
-- Row by row, each in a subtransaction, so that a failing row does not stop the others; the last failure is returned. One caller at a time;
-- a second one would only wait for the first one's rows. Bounded; `more` means that another call would find work.
create or replace function outbox.forget_expired(
  p_most integer default 500, out forgotten integer, out failed_code text, out failed_message text, out more boolean
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := '{}';
  v_id uuid;
  v_why constant text := 'Its time is over.';
begin
  forgotten := 0;
  if headroom.try_turn('outbox.forget_expired') then
    v_ids := array(
      select e.outbox_id
        from outbox.streams s
        -- Stream by stream and in order: otherwise everything that may expire on any stream would be read each time.
       cross join lateral (select m.outbox_id, m.expires_at from outbox.payloads m
                            where m.stream_id = s.stream_id and m.erased_at is null
                              and m.expires_at < now() - make_interval(mins => s.forget_minutes)
                            order by m.expires_at limit p_most) e
       where s.forget_minutes is not null
       order by e.expires_at limit p_most);
  end if;
  foreach v_id in array v_ids loop
    begin
      if (select k.result from outbox.skip(array[v_id], 'headroom', v_why) k) not in ('in_flight', 'busy') then
        perform outbox.erase_payload(v_id, 'headroom', v_why);
        forgotten := forgotten + 1;
      end if;
    exception when others then
      failed_code := sqlstate;
      failed_message := sqlerrm;
    end;
  end loop;
  more := cardinality(v_ids) = p_most and forgotten > 0;
end
$$;
comment on function outbox.forget_expired(integer)
  is 'Gives up and erases rows that expired long enough ago, on streams that forget. Nullable: failed_code, failed_message.';
