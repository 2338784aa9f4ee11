-- One batch of lanes (I6): a lane with rows has a head that will reach them, one without is idle, a blocked one has the dead row that it
-- waits for, and a leased one has its lease. So no row can be where nothing would ever find it.
create or replace function outbox.verify_lanes(
  p_after bigint default 0, p_limit integer default 20000, out last_id bigint, out lanes bigint, out findings jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  set enable_seqscan = off
as $$
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 100000 lanes.');
  end if;
  with batch as (
    select l.* from outbox.lanes l where l.lane_id > p_after order by l.lane_id limit p_limit
  ), judged as (
    select l.lane_id, l.key,
           case
             when (h.lane_id is null) <> (l.idle_at = l.next_seq) or h.lane_id is null and p.seq is not null
                  or not h.blocked and p.seq < least(h.head_seq, h.rewind_to) then 'lane_stranded'
             when h.blocked and not exists (select from outbox.dead d where d.lane_id = h.lane_id and d.seq = h.head_seq)
               then 'lane_blocked_by_nothing'
             when h.claim_id is not null and not exists (select from outbox.claims c
                                                          where c.claim_id = h.claim_id and h.lane_id = any (c.lane_ids))
               then 'lease_missing'
             when p.outbox_id is not null and not exists (select from outbox.payloads m where m.outbox_id = p.outbox_id)
               then 'payload_missing'
           end as code,
           format('idle at %s, next %s, head %s%s, first pending %s', l.idle_at, l.next_seq, coalesce(h.head_seq::text, 'none'),
                  case when h.blocked then ' (blocked)' end, coalesce(p.seq::text, 'none')) as detail
      from batch l
      left join lateral (select h.* from outbox.heads h where h.lane_id = l.lane_id offset 0) h on true
      left join lateral (select p.seq, p.outbox_id from outbox.pending p where p.lane_id = l.lane_id order by p.seq limit 1) p on true
  )
  select count(*), case when count(*) = p_limit then max(j.lane_id) end,
         coalesce(jsonb_agg(jsonb_build_object('invariant', 'I6', 'code', j.code, 'subject', format('lane %s (%s)', j.lane_id, j.key),
                                               'detail', j.detail)
                            order by j.lane_id) filter (where j.code is not null), '[]')
    into lanes, last_id, findings
    from judged j;
end
$$;
comment on function outbox.verify_lanes(bigint, integer)
  is 'Verifies a batch of lanes: that each is awake or rightly idle. Nullable: last_id.';
