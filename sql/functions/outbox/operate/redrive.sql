-- Sends dead rows again. Each goes back to pending with zero tries and its number unchanged; the archive continues to count its lines. In
-- an ordered lane whose later rows have been delivered or are in flight, this would break the order of the key, so it is done only on
-- request, and the archive records it.
--
-- A row that may have arrived goes back in doubt, and its rail's rules apply to it: the receiver is asked first, or the row is sent under
-- its key.
--
-- Results: redriven; parked (only a person can find out whether it arrived: resolve it first); needs_out_of_order; not_dead; busy (another
-- session holds its key at the moment: try again).
create or replace function outbox.redrive(
  p_outbox_ids uuid[], p_actor text, p_reason text, p_out_of_order boolean default false
) returns table (outbox_id uuid, result text, detail text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_results text[];
  v_chosen uuid[];
  v_overtaken boolean[];
  v_in_doubt uuid[];
  v_lanes bigint[];
begin
  perform outbox.check_operator(p_outbox_ids, p_actor, p_reason);
  v_lanes := outbox.lock_lanes((select array_agg(distinct d.lane_id) from outbox.dead d where d.outbox_id = any (p_outbox_ids)));
  perform from outbox.dead d where d.outbox_id = any (p_outbox_ids) order by d.outbox_id for update;

  with asked as (
    select u.id, min(u.ord) as ord from unnest(p_outbox_ids) with ordinality u(id, ord) group by u.id
  ), facts as (
    select a.id, a.ord, d.outbox_id is not null as dead, d.lane_id is not null and d.lane_id <> all (v_lanes) as busy, d.parked,
           d.uncertain,
           coalesce(greatest(l.delivered_to, h.delivered_to, case when h.claim_id is not null then h.claimed_to end) > d.seq,
                    false) as overtaken
      from asked a
      left join outbox.dead d on d.outbox_id = a.id
      left join outbox.lanes l on l.lane_id = d.lane_id
      left join outbox.heads h on h.lane_id = d.lane_id
  ), judged as (
    select f.id, f.ord, f.overtaken, f.uncertain,
           case when not f.dead then 'not_dead'
                when f.busy then 'busy'
                when f.parked then 'parked'
                when f.overtaken and p_out_of_order is not true then 'needs_out_of_order'
                else 'redriven' end as result
      from facts f
  )
  select array_agg(j.id order by j.ord), array_agg(j.result order by j.ord),
         array_agg(j.id order by j.ord) filter (where j.result = 'redriven'),
         array_agg(j.overtaken order by j.ord) filter (where j.result = 'redriven'),
         array_agg(j.id) filter (where j.uncertain)
    into v_ids, v_results, v_chosen, v_overtaken, v_in_doubt
    from judged j;
  if v_chosen is not null then
    perform outbox.requeue_dead(v_chosen, v_overtaken, p_actor, p_reason);
  end if;

  return query
  select r.id, r.result,
         case r.result
           when 'not_dead' then 'There is no dead letter with this id.'
           when 'busy' then 'Another session holds its key at the moment. Try again.'
           when 'parked' then 'It may have arrived. Find out, and record it with outbox.resolve_dead() first.'
           when 'needs_out_of_order' then 'Later rows of its key were delivered or are in flight.'
           else case
             when h.blocked then 'It waits: its key is blocked by another dead letter.'
             when r.id = any (v_in_doubt) then 'It may have arrived: its rail asks the receiver first, or sends it under the same key.'
             when m.expires_at <= now() then 'It has expired and will be skipped.'
           end
         end
    from unnest(v_ids, v_results) with ordinality r(id, result, ord)
    left join outbox.payloads m on m.outbox_id = r.id
    left join outbox.heads h on h.lane_id = m.lane_id
   order by r.ord;
end
$$;
comment on function outbox.redrive(uuid[], text, text, boolean) is 'Puts dead letters back to work; one result per id. Nullable: detail.';
