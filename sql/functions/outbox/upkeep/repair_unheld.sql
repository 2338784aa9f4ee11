-- Frees lanes that are leased under a claim that does not exist: no settle would be accepted for them, and no reap would find
-- them. They are reaped as if the claim existed and had expired; who held them and since when is read from the archive. The
-- rewind mark makes the reap ask the archive about each row whether it was in flight, instead of assuming it.
--
-- A lane that cannot be taken back stays as it is, and the others are taken back.
create or replace function outbox.repair_unheld(p_lane_ids bigint[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane_id bigint;
  v_head outbox.heads;
  v_stream outbox.streams;
  v_claim outbox.claims;
  v_repaired integer := 0;
begin
  for v_lane_id in select n.lane_id from unnest(p_lane_ids) n(lane_id) order by n.lane_id loop
    begin
      perform from outbox.heads h where h.lane_id = v_lane_id for update skip locked;
      continue when not found;
      update outbox.heads h set rewind_to = least(h.rewind_to, h.head_seq)
       where h.lane_id = v_lane_id and h.claim_id is not null and not exists (select from outbox.claims c where c.claim_id = h.claim_id)
      returning * into v_head;
      continue when not found;
      select * into v_stream from outbox.streams s where s.stream_id = v_head.stream_id;
      v_claim := null;
      v_claim.claim_id := v_head.claim_id;
      v_claim.lane_ids := array[v_lane_id];
      select a.relay_id, a.recorded_at into v_claim.relay_id, v_claim.claimed_at
        from outbox.pending p join outbox.attempts a on a.outbox_id = p.outbox_id and a.attempt_no = p.lines + 1
          and a.class_id = v_stream.class_id
       where p.lane_id = v_lane_id and p.seq between v_head.head_seq and v_head.claimed_to
       order by p.seq limit 1;
      perform outbox.reap_lanes(v_stream, v_claim);
      v_repaired := v_repaired + 1;
    exception when others then
      raise warning 'lane % was not taken back from claim %, which does not exist: %', v_lane_id, v_head.claim_id, sqlerrm;
    end;
  end loop;
  return v_repaired;
end
$$;
comment on function outbox.repair_unheld(bigint[]) is 'Takes lanes back from claims that do not exist; returns how many it repaired.';
