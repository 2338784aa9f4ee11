-- What the indexes know exactly about a stream that is too large to be counted, for status(): whether anything waits and is due, how many
-- lanes are blocked, and since when the oldest row is wanted.
--
-- Without order that is the earliest date of all, or the time of the oldest row that was tried before (a row is never due before it was
-- made, so the later dates of tried rows do no harm). With order no index knows it, so the first rows of the lanes that have waited longest
-- are read. A stream with order that can be counted does not need this.
create or replace function outbox.status_by_index(
  p_stream_id smallint, p_ordered boolean, p_estimated boolean,
  out waiting integer, out due integer, out blocked bigint, out wanted_at timestamptz
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_first timestamptz;
begin
  if not p_ordered then
    select min(u.due) into v_first
      from generate_series(0, 9) level(priority)
     cross join lateral (select u.due from outbox.pending_unordered u
                          where u.stream_id = p_stream_id and u.priority = level.priority order by u.due limit 1) u;
    wanted_at := least(v_first, outbox.id_time((
      select u.outbox_id from outbox.pending_unordered u where u.stream_id = p_stream_id and u.lines > 0 order by u.outbox_id limit 1)));
  elsif p_estimated then
    select min(h.due), least(min(f.due) filter (where f.lines = 0),
                             outbox.id_time((min(f.outbox_id::text collate "C") filter (where f.lines > 0))::uuid)) into v_first, wanted_at
      from generate_series(0, 9) level(priority)
     cross join lateral (select h.lane_id, h.due from outbox.heads h
                          where h.stream_id = p_stream_id and h.priority = level.priority and h.claim_id is null and not h.blocked
                            and h.head_seq > 0
                          order by h.due limit 1000) h
     cross join lateral (select p.lines, p.due, p.outbox_id
                           from outbox.pending p where p.lane_id = h.lane_id order by p.seq limit 1) f;
    select count(*) into blocked
      from outbox.dead d join outbox.heads h on h.lane_id = d.lane_id and h.head_seq = d.seq and h.blocked
     where d.stream_id = p_stream_id;
  end if;
  waiting := (v_first is not null)::integer;
  due := coalesce(v_first <= now(), false)::integer;
end
$$;
comment on function outbox.status_by_index(smallint, boolean, boolean)
  is 'Exact facts about large streams, for status(). Nullable: blocked, wanted_at.';
