-- Records a person's answer to a question that the system cannot answer: did a row of unknown outcome arrive? Delivered finishes it; not
-- delivered leaves it dead but no longer in doubt, to be redriven or skipped.
create or replace function outbox.resolve_dead(
  p_outbox_id uuid, p_delivered boolean, p_actor text, p_reason text, p_reference text default null,
  out outbox_id uuid, out result text, out detail text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  v_dead outbox.dead;
  v_lane_id bigint;
begin
  perform outbox.check_operator(array[p_outbox_id], p_actor, p_reason);
  if p_delivered is null then
    perform headroom.fail('invalid_input', 'It is not stated whether the row was delivered.', 'p_delivered is true or false');
  elsif length(p_reference) not between 1 and 500 then
    perform headroom.fail('invalid_input', 'A reference has 1 to 500 characters.');
  end if;
  v_lane_id := (select d.lane_id from outbox.dead d where d.outbox_id = p_outbox_id);
  if v_lane_id is not null and v_lane_id <> all (outbox.lock_lanes(array[v_lane_id])) then
    outbox_id := p_outbox_id;
    result := 'busy';
    detail := 'Another session holds its key at the moment. Try again.';
    return;
  end if;
  select * into v_dead from outbox.dead d where d.outbox_id = p_outbox_id for update;
  if not found and outbox.in_flight_or_finished(p_outbox_id) = 'unknown' then
    perform headroom.fail('not_found', format('There is no row %s.', p_outbox_id), null, 'List dead letters: headroom outbox dead');
  elsif v_dead.uncertain is not true then
    perform headroom.fail('conflict', format('Row %s is not in doubt.', p_outbox_id),
      case when v_dead.outbox_id is null then 'it is not a dead letter' else 'it is dead, and known not to have arrived' end,
      'Only dead letters whose outcome is unknown are resolved; others are redriven or skipped.');
  end if;

  insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, rail_reference, rail_code, actor, reason)
  values (p_outbox_id, v_dead.lines + 1, get_byte(uuid_send(p_outbox_id), 7), v_dead.stream_id, 'RESOLVED', p_reference,
          case when p_delivered then 'delivered' else 'not_delivered' end, p_actor, p_reason);
  outbox_id := p_outbox_id;
  if not p_delivered then
    update outbox.dead d set parked = false, uncertain = false, lines = d.lines + 1 where d.outbox_id = p_outbox_id;
    result := 'not_delivered';
    detail := 'It is still a dead letter. Redrive or skip it.';
    return;
  end if;
  delete from outbox.dead d where d.outbox_id = p_outbox_id;
  -- It arrived when it was last tried, not when a person found that out.
  if v_dead.lane_id is not null then
    update outbox.lanes l
       set delivered_to = greatest(l.delivered_to, v_dead.seq), delivered_at = greatest(l.delivered_at, v_dead.died_at)
     where l.lane_id = v_dead.lane_id;
    perform outbox.release_lanes(array[v_dead.lane_id]);
  else
    perform outbox.tell_finished(array[p_outbox_id], true, v_dead.died_at);
  end if;
  result := 'delivered';
end
$$;
comment on function outbox.resolve_dead(uuid, boolean, text, text, text)
  is 'Records whether an uncertain dead letter was delivered. Nullable: detail.';
