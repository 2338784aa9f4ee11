-- Gives rows up permanently: dead ones, and pending ones that are not in flight. A lane that waited for such a row continues. A row in
-- flight is left alone, because it may be arriving at this moment; try again when its outcome is known.
--
-- Results: skipped; in_flight; finished (delivered or skipped before); unknown; busy (another session holds its key at the moment: try
-- again).
create or replace function outbox.skip(p_outbox_ids uuid[], p_actor text, p_reason text)
returns table (outbox_id uuid, result text, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set enable_hashjoin = off set enable_mergejoin = off
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  v_lanes bigint[];
  v_ids uuid[];
  v_free uuid[];
begin
  perform outbox.check_operator(p_outbox_ids, p_actor, p_reason);
  select array_agg(distinct m.lane_id) into v_lanes from outbox.payloads m where m.outbox_id = any (p_outbox_ids) and m.lane_id is not null;
  v_lanes := outbox.lock_lanes(v_lanes);
  select array_agg(u.id) into v_free
    from unnest(p_outbox_ids) u(id) left join outbox.payloads m on m.outbox_id = u.id
   where m.lane_id is null or m.lane_id = any (v_lanes);
  perform from outbox.dead d where d.outbox_id = any (v_free) order by d.outbox_id for update;
  perform from outbox.pending_unordered u where u.outbox_id = any (v_free) order by u.outbox_id for update;

  with dead as (
    delete from outbox.dead d where d.outbox_id = any (v_free) returning d.outbox_id, d.stream_id, d.lines, d.uncertain
  ), unordered as (
    delete from outbox.pending_unordered u where u.outbox_id = any (v_free) returning u.outbox_id, u.stream_id, u.lines, u.uncertain
  ), ordered as (
    delete from outbox.pending p
     using outbox.payloads m
     where m.outbox_id = any (v_free) and p.lane_id = m.lane_id and p.seq = m.seq
       and not exists (select from outbox.attempts a
                        where a.outbox_id = p.outbox_id and a.attempt_no = p.lines + 1 and a.class_id = get_byte(uuid_send(p.outbox_id), 7))
    returning p.outbox_id, m.stream_id, p.lines, p.uncertain
  ), gone as (
    select * from dead union all select * from unordered union all select * from ordered
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, uncertain, error_code, actor, reason)
    select g.outbox_id, g.lines + 1, get_byte(uuid_send(g.outbox_id), 7), g.stream_id, 'SKIPPED', g.uncertain, 'operator', p_actor, p_reason
      from gone g
  )
  select array_agg(g.outbox_id) into v_ids from gone g;
  perform outbox.tell_finished(v_ids, false, clock_timestamp());
  if v_lanes is not null then
    perform outbox.release_lanes(v_lanes);
  end if;

  return query
  select a.id, r.result,
         case r.result
           when 'busy' then 'Another session holds its key at the moment. Try again.'
           when 'in_flight' then 'It is being sent. Try again when its outcome is known.'
           when 'finished' then 'It was delivered or skipped before.'
           when 'unknown' then 'There is no such row, or its archive has been collected.'
         end
    from (select u.id, min(u.ord) as ord from unnest(p_outbox_ids) with ordinality u(id, ord) group by u.id) a
   cross join lateral (
         select case when a.id = any (v_ids) then 'skipped' when a.id <> all (v_free) or v_free is null then 'busy'
           else outbox.in_flight_or_finished(a.id) end) r(result)
   order by a.ord;
end
$$;
comment on function outbox.skip(uuid[], text, text) is 'Gives up dead letters and pending rows; one result per id. Nullable: detail.';
