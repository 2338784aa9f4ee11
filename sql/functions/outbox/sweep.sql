-- Repairs any lane that has pending rows and nothing that would ever wake it. None should exist; if one does, it is
-- mended here and counted, and somebody should ask why. Locks the lane first, so that an open producer is not misread.
create or replace function outbox.sweep() returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane_id bigint;
  v_mended integer := 0;
begin
  for v_lane_id in
    with recursive lane as (
      (select p.lane_id from outbox.pending p order by p.lane_id limit 1)
      union all
      select (select p.lane_id from outbox.pending p where p.lane_id > l.lane_id order by p.lane_id limit 1) from lane l where l.lane_id is not null
    )
    select l.lane_id from lane l where l.lane_id is not null and not exists (select from outbox.heads h where h.lane_id = l.lane_id)
  loop
    perform from outbox.lanes l where l.lane_id = v_lane_id for update skip locked;
    continue when not found;
    insert into outbox.heads (lane_id, stream_id, priority, due, head_seq)
    select l.lane_id, l.stream_id, p.priority, p.due, p.seq
      from outbox.lanes l
     cross join lateral (select p.* from outbox.pending p where p.lane_id = l.lane_id order by p.seq limit 1) p
     where l.lane_id = v_lane_id
    on conflict do nothing;
    if found then
      update outbox.lanes set idle_at = -1 where lane_id = v_lane_id;
      v_mended := v_mended + 1;
    end if;
  end loop;
  delete from outbox.relays where seen_at < now() - interval '10 minutes';
  return v_mended;
end
$$;
comment on function outbox.sweep() is 'Puts stranded lanes back to work and forgets relays that are long gone; returns how many lanes it mended.';
