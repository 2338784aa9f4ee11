-- Gives up the first row of free lanes: a FAILED line, a dead letter, and the lane blocks or continues as its stream says.
create or replace function outbox.give_up_heads(
  p_stream outbox.streams, p_lane_ids bigint[], p_seqs bigint[], p_code text, p_message text
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead jsonb;
begin
  with gone as (
    delete from outbox.pending p using unnest(p_lane_ids, p_seqs) n(lane_id, seq)
     where p.lane_id = n.lane_id and p.seq = n.seq
    returning p.*
  ), line as (
    insert into outbox.attempts (outbox_id, attempt_no, class_id, stream_id, state, uncertain, error_code, error_message)
    select g.outbox_id, g.lines + 1, p_stream.class_id, p_stream.stream_id, 'FAILED', g.uncertain, p_code, p_message from gone g
  ), dead as (
    insert into outbox.dead
      (outbox_id, stream_id, lane_id, seq, first_sent_at, lines, tries, priority, uncertain, parked, error_code, error_message)
    select g.outbox_id, p_stream.stream_id, g.lane_id, g.seq, g.first_sent_at, g.lines + 1, g.tries, g.priority, g.uncertain, g.uncertain,
           p_code, p_message
      from gone g
  )
  select jsonb_agg(jsonb_build_object('stream', p_stream.name, 'outbox_id', g.outbox_id, 'code', p_code, 'tenant_id', m.tenant_id,
                                      'rail', r.name))
    into v_dead
    from gone g
    join outbox.payloads m on m.outbox_id = g.outbox_id
    join outbox.rails r on r.rail_id = m.rail_id;
  if p_stream.on_dead = 'block' then
    update outbox.heads h set head_seq = n.seq, blocked = true from unnest(p_lane_ids, p_seqs) n(lane_id, seq) where h.lane_id = n.lane_id;
  else
    perform outbox.advance_lanes(p_lane_ids, p_seqs);
  end if;
  if v_dead is not null then
    perform headroom.run_hooks('outbox.ended', v_dead);
  end if;
end
$$;
comment on function outbox.give_up_heads(outbox.streams, bigint[], bigint[], text, text)
  is 'Moves the first rows of free lanes to the dead letters.';
