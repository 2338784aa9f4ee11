-- Where a row is and what it waits for, by the row and its last line: place (pending, in_flight, delivered, skipped, dead, parked,
-- collected), and with it the next attempt, the lease, the row that must come first, or the death. Collected: its lines were dropped.
--
-- p_asked: whether the archive was asked for that line. Asking takes longer than all the rest, so a caller may first try without it; the
-- answer is null where only the archive knows.
create or replace function outbox.place_of_row(p_row outbox.payloads, p_last outbox.attempts, p_asked boolean) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead outbox.dead;
  v_head outbox.heads;
  v_first record;
  v_wait record;
begin
  if p_last.state = 'DISPATCHING' then
    return jsonb_build_object(
      'place', 'in_flight', 'tries', outbox.tries_so_far(p_row.outbox_id, p_last.class_id), 'claim_id', p_last.claim_id,
      'lease_until', (select c.lease_until from outbox.claims c where c.claim_id = p_last.claim_id));
  end if;
  select * into v_dead from outbox.dead d where d.outbox_id = p_row.outbox_id;
  if found then
    return jsonb_strip_nulls(jsonb_build_object(
      'place', case when v_dead.parked then 'parked' else 'dead' end, 'died_at', v_dead.died_at, 'tries', v_dead.tries,
      'uncertain', v_dead.uncertain, 'error_code', v_dead.error_code, 'error_message', v_dead.error_message,
      'blocks_lane', (select h.blocked and h.head_seq = v_dead.seq from outbox.heads h where h.lane_id = v_dead.lane_id)));
  end if;

  select u.due, u.tries, u.uncertain into v_wait from outbox.pending_unordered u where u.outbox_id = p_row.outbox_id;
  if found then
    return jsonb_build_object('place', 'pending', 'tries', v_wait.tries, 'uncertain', v_wait.uncertain, 'next_attempt_at', v_wait.due);
  end if;
  select p.due, p.tries, p.uncertain into v_wait from outbox.pending p where p.lane_id = p_row.lane_id and p.seq = p_row.seq;
  if not found then
    return case when p_asked then
      jsonb_build_object('place', case when p_last.state = 'SKIPPED' then 'skipped'
                                       when p_last.state is null then 'collected' else 'delivered' end) end;
  end if;

  select * into v_head from outbox.heads h where h.lane_id = p_row.lane_id;
  if p_asked is not true and v_head.claim_id is not null and p_row.seq <= v_head.claimed_to then
    return null;
  end if;
  select b.outbox_id, b.seq into v_first
    from (select d.outbox_id, d.seq, 0 as ord from outbox.dead d
           where v_head.blocked and d.lane_id = v_head.lane_id and d.seq = v_head.head_seq
          union all
          (select p.outbox_id, p.seq, 1 from outbox.pending p where p.lane_id = p_row.lane_id and p.seq < p_row.seq order by p.seq limit 1)
           order by ord limit 1) b;
  return jsonb_strip_nulls(jsonb_build_object(
    'place', 'pending', 'tries', v_wait.tries, 'uncertain', v_wait.uncertain,
    'next_attempt_at', case when v_first.outbox_id is null then v_head.due end,
    'waits_for', case when v_first.outbox_id is not null then
      jsonb_build_object('outbox_id', v_first.outbox_id, 'seq', v_first.seq, 'dead', v_head.blocked) end));
end
$$;
comment on function outbox.place_of_row(outbox.payloads, outbox.attempts, boolean)
  is 'Place of a row, and what it waits for. Nullable: p_last, result.';
