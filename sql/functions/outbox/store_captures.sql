-- Keeps what deliveries brought back under the lane of each row. A later row of the lane may capture the same name anew.
create or replace function outbox.store_captures(p_outcomes outbox.row_outcome[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.captures as c (lane_id, name, value, outbox_id)
  select distinct on (m.lane_id, v.key) m.lane_id, v.key, v.value, m.outbox_id
    from unnest(p_outcomes) o
    join outbox.payloads m on m.outbox_id = o.outbox_id
   cross join lateral jsonb_each(o.captured) v
   where m.lane_id is not null
   order by m.lane_id, v.key, m.seq desc
  on conflict (lane_id, name) do update set value = excluded.value, outbox_id = excluded.outbox_id, captured_at = now();
$$;
comment on function outbox.store_captures(outbox.row_outcome[]) is 'Stores captured response fields under the lanes of delivered rows.';
