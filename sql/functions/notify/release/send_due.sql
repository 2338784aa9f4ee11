-- Sends what is due, batch after batch, for at most half a minute, and forgets what is old. Returns the number of messages. It is one
-- transaction: a caller whose statements time out would lose all of it each time, so it uses a quarter of that time-out, and small batches.
create or replace function notify.send_due() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_cut_off_ms integer := nullif(extract(epoch from current_setting('statement_timeout')::interval) * 1000, 0);
  v_until timestamptz := clock_timestamp() + least(interval '30 seconds', v_cut_off_ms * interval '250 microseconds');
  v_turn record;
  v_released integer := 0;
begin
  loop
    v_turn := notify.release(case when v_cut_off_ms is null then 500 else 50 end);
    v_released := v_released + v_turn.released;
    exit when not v_turn.more or clock_timestamp() > v_until;
  end loop;
  perform notify.forget_old(1000);
  return v_released;
end
$$;
comment on function notify.send_due() is 'Sends the notifications that are due; the number of messages.';
