-- Lets free lanes continue whose first row an operator has taken away. The caller holds allocators and heads. A lane in flight continues
-- when its run is settled.
create or replace function outbox.release_lanes(p_lane_ids bigint[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_free bigint[];
begin
  select array_agg(h.lane_id) into v_free
    from outbox.heads h
   where h.lane_id = any (p_lane_ids) and h.claim_id is null
     and case when h.blocked then not exists (select from outbox.dead d where d.lane_id = h.lane_id and d.seq = h.head_seq)
              else not exists (select from outbox.pending p where p.lane_id = h.lane_id and p.seq = h.head_seq) end;
  if v_free is null then
    return;
  end if;
  perform outbox.advance_lanes(v_free, array_fill(0::bigint, array[cardinality(v_free)]));
  perform outbox.wake_relays(s.name)
     from outbox.streams s
    where s.stream_id in (select h.stream_id from outbox.heads h where h.lane_id = any (v_free));
end
$$;
comment on function outbox.release_lanes(bigint[]) is 'Moves lanes on whose head is gone.';
