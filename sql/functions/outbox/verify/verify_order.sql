-- I5, for one ordered stream: rows of a key were delivered in the order of their numbers, and no number was left out where nothing is ever
-- collected. Rows that were redriven out of order are ignored, and so are rows that a person resolved later.
--
-- The lines of a key are spread over the whole archive, so this is one statement over all of it: the server sorts on disk what does
-- not fit into memory.
create or replace function outbox.verify_order(p_stream text, out deliveries bigint, out findings jsonb)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set work_mem = '64MB'
  set plan_cache_mode = force_custom_plan
as $$
declare
  v_stream outbox.streams;
  v_kept boolean;
begin
  select * into v_stream from outbox.streams s where s.name = p_stream;
  if v_stream.stream_id is null or not v_stream.ordered then
    perform headroom.fail('invalid_input', format('There is no ordered stream "%s".', left(p_stream, 64)), null,
      'List streams: headroom outbox status');
  end if;
  v_kept := (select c.retain_days is null from outbox.retention_classes c where c.class_id = v_stream.class_id);

  with delivered as (
    select a.outbox_id, max(a.recorded_at) filter (where a.state = 'DISPATCHED') as at,
           bool_or(a.state = 'REDRIVEN' and a.out_of_order) as out_of_order
      from outbox.attempts a
     where a.class_id = v_stream.class_id and a.stream_id = v_stream.stream_id and a.state in ('DISPATCHED', 'REDRIVEN')
     group by a.outbox_id
  ), numbered as (
    select m.outbox_id, m.lane_id, m.seq, case when not d.out_of_order then d.at end as at,
           max(case when not d.out_of_order then d.at end)
             over (partition by m.lane_id order by m.seq rows between unbounded preceding and 1 preceding) as before,
           coalesce(lag(m.seq) over (partition by m.lane_id order by m.seq), 0) as last_seq,
           lead(m.seq) over (partition by m.lane_id order by m.seq) as next_seq
      from outbox.payloads m
      left join delivered d on d.outbox_id = m.outbox_id
     where m.stream_id = v_stream.stream_id and m.lane_id is not null
  ), judged as (
    select n.outbox_id, n.lane_id, n.seq,
           case when n.at < n.before then 'out_of_order'
                when v_kept and n.seq <> n.last_seq + 1 then 'number_missing'
                when v_kept and n.next_seq is null
                     and n.seq <> (select l.next_seq - 1 from outbox.lanes l where l.lane_id = n.lane_id) then 'number_missing'
           end as code
      from numbered n
  )
  select count(*),
         coalesce(jsonb_agg(jsonb_build_object(
           'invariant', 'I5', 'code', j.code, 'subject', j.outbox_id,
           'detail', format(case j.code when 'out_of_order' then 'number %s of lane %s was delivered before an earlier one'
                                        else 'a number next to %s of lane %s is missing' end, j.seq, j.lane_id))
           order by j.lane_id, j.seq) filter (where j.code is not null), '[]')
    into deliveries, findings
    from judged j;
end
$$;
comment on function outbox.verify_order(text) is 'Verifies that an ordered stream delivered in order, key by key.';
