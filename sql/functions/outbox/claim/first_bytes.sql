-- As many of these rows, from the first on, as have at most p_max_bytes together; at least one.
create or replace function outbox.first_bytes(p_rows outbox.run_row[], p_max_bytes bigint) returns outbox.run_row[]
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select p_rows[:greatest(1, (select count(*)::integer
                                from (select sum(r.bytes) over (order by r.n) as so_far
                                        from unnest(p_rows) with ordinality
                                             r(lane_id, place, seq, outbox_id, line, tries, uncertain, first_sent_at, payload_hash, bytes,
                                               n)) r
                               where r.so_far <= p_max_bytes))];
$$;
comment on function outbox.first_bytes(outbox.run_row[], bigint)
  is 'The first of these rows that have at most so many bytes together, one at least.';
