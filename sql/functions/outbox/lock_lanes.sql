-- Takes lanes for an operator: first the number allocators, in the order in which enqueue_many takes them, then the heads,
-- in the order in which a settle takes them. A settle never waits for an allocator, so nobody can wait in a circle.
-- Afterwards nothing about these lanes changes until the end of the transaction, except that a lane in flight stays so.
create or replace function outbox.lock_lanes(p_lane_ids bigint[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform from outbox.lanes l where l.lane_id = any (p_lane_ids) order by l.stream_id, l.key for update;
  perform from outbox.heads h where h.lane_id = any (p_lane_ids) order by h.lane_id for update;
end
$$;
comment on function outbox.lock_lanes(bigint[]) is 'Locks lanes and their heads for an operator''s act.';
