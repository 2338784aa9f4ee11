-- Stores what deliveries captured under the lane of each row. A later row of the lane may capture the same name again. Layers above are
-- notified in the same transaction.
create or replace function outbox.store_captures(p_outcomes outbox.row_outcome[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_stored jsonb;
begin
  with stored as (
    insert into outbox.captures as c (lane_id, name, value, outbox_id)
    select distinct on (m.lane_id, v.key) m.lane_id, v.key, v.value, m.outbox_id
      from unnest(p_outcomes) o
      -- The lane that the outcome moves, whatever id it names: a relay reports only rows that it holds.
      join outbox.payloads m on m.outbox_id = o.outbox_id and m.lane_id = o.lane_id and m.seq = o.seq
     cross join lateral jsonb_each(o.captured) v
     where coalesce(o.kind, 'delivered') = 'delivered'
     order by m.lane_id, v.key, m.seq desc
    on conflict (lane_id, name) do update set value = excluded.value, outbox_id = excluded.outbox_id, captured_at = now()
    returning c.lane_id, c.name, c.value, c.outbox_id
  )
  select jsonb_agg(jsonb_build_object(
           'stream', s.name, 'key', l.key, 'name', c.name, 'value', c.value, 'outbox_id', c.outbox_id, 'rail', r.name)) into v_stored
    from stored c
    join outbox.payloads m on m.outbox_id = c.outbox_id
    join outbox.rails r on r.rail_id = m.rail_id
    join outbox.lanes l on l.lane_id = c.lane_id
    join outbox.streams s on s.stream_id = l.stream_id;
  if v_stored is not null then
    perform headroom.run_hooks('outbox.captured', v_stored);
  end if;
end
$$;
comment on function outbox.store_captures(outbox.row_outcome[]) is 'Stores captured response fields under the lanes of delivered rows.';
