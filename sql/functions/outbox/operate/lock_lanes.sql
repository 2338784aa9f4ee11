-- Takes lanes for an operator, those that nobody else holds: first the number allocators, then the heads. It waits for nobody, so no
-- operator holds what others need while waiting for more. Returns the lanes taken; the operator must ask for the others again. Until the
-- end of the transaction nothing about the lanes taken changes, except that a lane in flight stays so.
--
-- A producer that enqueues under one of these keys waits for the operator. So that a transaction left open at a prompt does not make it
-- wait for an hour, the server ends such a transaction after an idle minute.
create or replace function outbox.lock_lanes(p_lane_ids bigint[]) returns bigint[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lanes bigint[];
begin
  if current_setting('idle_in_transaction_session_timeout') in ('0', '0ms') then
    perform set_config('idle_in_transaction_session_timeout', '60s', true);
  end if;
  select array_agg(l.lane_id) into v_lanes
    from (select l.lane_id from outbox.lanes l where l.lane_id = any (p_lane_ids) order by l.stream_id, l.key for update skip locked) l;
  perform from outbox.heads h where h.lane_id = any (v_lanes) order by h.lane_id for update skip locked;
  -- A separate statement: lanes whose head another session holds are not taken.
  return array(
    select v.lane_id from unnest(v_lanes) v(lane_id)
     where not exists (select from outbox.heads h where h.lane_id = v.lane_id)
        or exists (select from outbox.heads h where h.lane_id = v.lane_id for update skip locked));
end
$$;
comment on function outbox.lock_lanes(bigint[]) is 'Takes lanes for an operator until the end of the transaction, those that are free.';
