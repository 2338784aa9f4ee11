-- The numbers of at most p_most queues of a way that hold something, from a given number on: one index probe each, whatever their length.
create or replace function outbox.waiting_queues(
  p_stream outbox.streams, p_way_id integer, p_since timestamptz, p_after integer, p_most integer
) returns integer[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids integer[];
begin
  if p_stream.ordered then
    with recursive queue(destination_id, n) as (
      (select h.destination_id, 1 from outbox.heads h
        where h.stream_id = p_stream.stream_id and h.way_id = p_way_id and h.destination_id > p_after and h.claim_id is null
          and not h.blocked and h.due >= p_since
        order by h.destination_id limit 1)
      union all
      select (select h.destination_id from outbox.heads h
               where h.stream_id = p_stream.stream_id and h.way_id = p_way_id and h.destination_id > q.destination_id
                 and h.claim_id is null and not h.blocked and h.due >= p_since
               order by h.destination_id limit 1), q.n + 1
        from queue q where q.destination_id is not null and q.n < p_most
    )
    select array_agg(q.destination_id) into v_ids from queue q where q.destination_id is not null;
  else
    with recursive queue(destination_id, n) as (
      (select u.destination_id, 1 from outbox.pending_unordered u
        where u.stream_id = p_stream.stream_id and u.way_id = p_way_id and u.destination_id > p_after and u.due >= p_since
        order by u.destination_id limit 1)
      union all
      select (select u.destination_id from outbox.pending_unordered u
               where u.stream_id = p_stream.stream_id and u.way_id = p_way_id and u.destination_id > q.destination_id
                 and u.due >= p_since
               order by u.destination_id limit 1), q.n + 1
        from queue q where q.destination_id is not null and q.n < p_most
    )
    select array_agg(q.destination_id) into v_ids from queue q where q.destination_id is not null;
  end if;
  return coalesce(v_ids, '{}');
end
$$;
comment on function outbox.waiting_queues(outbox.streams, integer, timestamptz, integer, integer)
  is 'Numbers of queues of a way that hold something.';
