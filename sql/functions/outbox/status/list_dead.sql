-- A page of dead letters, oldest row first. The next page begins after the last id of this one.
create or replace function outbox.list_dead(
  p_stream text default null,
  p_error_code text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_parked boolean default null,
  p_limit integer default 100,
  p_after uuid default null
) returns table (
  outbox_id uuid, stream text, key text, seq bigint, rail text, instruction_id text, idempotency_key text, parked boolean,
  uncertain boolean, error_code text, error_message text, tries smallint, lines integer, created_at timestamptz, died_at timestamptz,
  blocks_lane boolean
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A page has 1 to 10000 rows.');
  end if;
  perform outbox.check_stream_name(p_stream);
  return query
  select d.outbox_id, s.name, coalesce(l.key, m.key), d.seq, r.name, m.instruction_id, m.idempotency_key, d.parked, d.uncertain,
         d.error_code, d.error_message, d.tries, d.lines, m.created_at, d.died_at, coalesce(h.blocked and h.head_seq = d.seq, false)
    from outbox.dead d
    join outbox.streams s on s.stream_id = d.stream_id
    join outbox.payloads m on m.outbox_id = d.outbox_id
    join outbox.rails r on r.rail_id = m.rail_id
    left join outbox.lanes l on l.lane_id = d.lane_id
    left join outbox.heads h on h.lane_id = d.lane_id
   where (p_stream is null or s.name = p_stream)
     and (p_error_code is null or d.error_code = p_error_code)
     and (p_from is null or d.died_at >= p_from)
     and (p_to is null or d.died_at < p_to)
     and (p_parked is null or d.parked = p_parked)
     and (p_after is null or d.outbox_id > p_after)
   order by d.outbox_id
   limit p_limit;
end
$$;
comment on function outbox.list_dead(text, text, timestamptz, timestamptz, boolean, integer, uuid)
  is 'Dead letters by stream, error code, time of death and doubt, in pages. Nullable: key, seq, error_message.';
