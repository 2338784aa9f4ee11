-- What the archive says a row has been through: DISPATCHING lines less RELEASED ones are its tries, the open one included.
-- A redrive starts the count of tries anew; the first send stays the first, because receivers remember keys from there.
create or replace function outbox.tries_so_far(
  p_outbox_id uuid, p_class_id smallint, out tries integer, out first_sent_at timestamptz, out uncertain boolean, out lines integer
)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select (count(*) filter (where a.state = 'DISPATCHING' and a.attempt_no > a.redriven_at)
          - count(*) filter (where a.state = 'RELEASED' and a.attempt_no > a.redriven_at))::integer,
         min(a.recorded_at) filter (where a.state = 'DISPATCHING'),
         coalesce((array_agg(a.uncertain order by a.attempt_no desc))[1], false),
         coalesce(max(a.attempt_no), 0)
    from (select a.*, coalesce(max(a.attempt_no) filter (where a.state = 'REDRIVEN') over (), 0) as redriven_at
            from outbox.attempts a
           where a.outbox_id = p_outbox_id and a.class_id = p_class_id) a;
$$;
comment on function outbox.tries_so_far(uuid, smallint) is 'Tries, first send, uncertainty and lines of a row, counted from the archive. Nullable: first_sent_at.';
