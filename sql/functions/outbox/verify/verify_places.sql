-- I6, for a range of outbox ids: each row is pending, in flight under a lease, finished or dead, and in one of these places only; and
-- the place knows how many lines the archive has.
create or replace function outbox.verify_places(p_after uuid, p_to uuid)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- What is in flight on streams without order, as <id>:<line>. An array is searched by hash; a join would be quadratic whenever the
  -- planner expects little to be in flight.
  v_leased text[] := array(select u.id || ':' || u.line from outbox.claims c cross join lateral unnest(c.outbox_ids, c.lines) u(id, line)
                            where u.id > p_after and u.id <= p_to);
begin
  return query
  with found as (
    select m.outbox_id, l.attempt_no, l.state, p.lane_id as pending_lane, p.seq, l.claim_id,
           coalesce(p.lines, u.lines, d.lines) as lines, d.outbox_id is not null as dead,
           array_remove(array[
             case when p.lane_id is not null then case when l.state = 'DISPATCHING' then 'in flight' else 'pending' end end,
             case when u.outbox_id is not null then 'pending' end,
             case when l.state = 'DISPATCHING' and m.outbox_id || ':' || l.attempt_no = any (v_leased) then 'in flight' end,
             case when d.outbox_id is not null then 'dead' end,
             case when l.state in ('DISPATCHED', 'SKIPPED') or l.state = 'RESOLVED' and l.rail_code = 'delivered' then 'finished' end
           ], null) as places,
           d.outbox_id is not null
             and not coalesce(l.state = 'FAILED' or l.state = 'RESOLVED' and l.rail_code = 'not_delivered', false) as falsely_dead
      from outbox.payloads m
      left join lateral (select a.attempt_no, a.state, a.rail_code, a.claim_id from outbox.attempts a
                          where a.outbox_id = m.outbox_id and a.class_id = get_byte(uuid_send(m.outbox_id), 7)
                          order by a.attempt_no desc limit 1) l on true
      left join lateral (select p.lane_id, p.seq, p.lines from outbox.pending p
                          where p.lane_id = m.lane_id and p.seq = m.seq offset 0) p on true
      left join lateral (select u.outbox_id, u.lines from outbox.pending_unordered u where u.outbox_id = m.outbox_id offset 0) u on true
      left join lateral (select d.outbox_id, d.lines from outbox.dead d where d.outbox_id = m.outbox_id offset 0) d on true
     where m.outbox_id > p_after and m.outbox_id <= p_to
  )
  select 'I6', v.code, f.outbox_id::text, v.detail
    from found f
   cross join lateral (
         select case when f.places = '{}' then 'row_lost' else 'row_in_two_places' end as code,
                case when f.places = '{}' then 'it is neither pending, in flight, finished nor dead'
                  else 'it is ' || array_to_string(f.places, ' and ') end as detail
          where cardinality(f.places) <> 1
         union all
         select 'lease_missing', format('number %s of lane %s is in flight, and no lease holds it', f.seq, f.pending_lane)
          where f.pending_lane is not null and f.state = 'DISPATCHING'
            and not exists (select from outbox.heads h join outbox.claims c on c.claim_id = h.claim_id and h.lane_id = any (c.lane_ids)
                             where h.lane_id = f.pending_lane and h.claim_id = f.claim_id and f.seq between h.head_seq and h.claimed_to)
         union all
         select 'lines_miscounted', format('%s lines are counted, the archive has %s', f.lines, coalesce(f.attempt_no, 0))
          where f.lines is not null
            and f.lines <> coalesce(f.attempt_no, 0) - (not f.dead and coalesce(f.state = 'DISPATCHING', false))::integer
         union all
         select 'falsely_dead', format('it is a dead letter, and its last line is %s', coalesce(f.state::text, 'none'))
          where f.falsely_dead and cardinality(f.places) = 1) v;
end
$$;
comment on function outbox.verify_places(uuid, uuid)
  is 'Rows of a range that are nowhere, in two places, or in a place whose count of lines is wrong.';
