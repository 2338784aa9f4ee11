-- Rows that were tried or handed back, wait for the time of their next try, and are next of their key: an operator may make these due now.
-- Rows that were never claimed are not among them: their time is the producer's.
create or replace function outbox.retries_waiting(p_stream text, p_rail text, p_error_code text)
returns table (outbox_id uuid, stream text, rail text, error_code text, tries smallint, due timestamptz)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select w.outbox_id, s.name, r.name, a.error_code, w.tries, w.due
    from (select u.outbox_id, u.stream_id, u.way_id, u.lines, u.tries, u.due from outbox.pending_unordered u where u.lines > 0
          union all
          select p.outbox_id, h.stream_id, p.way_id, p.lines, p.tries, h.due
            from outbox.heads h join outbox.pending p on p.lane_id = h.lane_id and p.seq = h.head_seq
           where h.claim_id is null and not h.blocked and p.lines > 0) w
    join outbox.streams s on s.stream_id = w.stream_id
    join outbox.ways y on y.way_id = w.way_id
    join outbox.rails r on r.rail_id = y.rail_id
    left join outbox.attempts a on a.outbox_id = w.outbox_id and a.class_id = s.class_id and a.attempt_no = w.lines
   where w.due > now()
     and (p_stream is null or s.name = p_stream)
     and (p_rail is null or r.name = p_rail)
     and (p_error_code is null or a.error_code = p_error_code)
$$;
comment on function outbox.retries_waiting(text, text, text)
  is 'Rows that wait for the time of their next try. Nullable: p_stream, p_rail, p_error_code, error_code.';
