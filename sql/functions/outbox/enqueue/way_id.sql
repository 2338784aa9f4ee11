-- The number of a way: by which rail rows of a stream go, and who wrote them. Made on first use; as with outbox.destination_id(), two
-- producers that use it first at the same time make two numbers, and do not wait for each other.
--
-- A claim reads every way, so their number is bounded: where very many logins write, for example when each is made for a day, those that
-- come later share one writer.
create or replace function outbox.way_id(p_stream_id smallint, p_rail_id smallint, p_writer text) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_max constant integer := 50;
  v_others constant text := '*';
  v_id integer;
  v_count bigint;
begin
  select w.way_id into v_id from outbox.ways w
   where w.stream_id = p_stream_id and w.rail_id = p_rail_id and w.writer in (p_writer, v_others)
   order by w.writer = v_others, w.way_id limit 1;
  if not found then
    select count(*) into v_count from outbox.ways w where w.stream_id = p_stream_id and w.rail_id = p_rail_id;
    insert into outbox.ways (stream_id, rail_id, writer)
    values (p_stream_id, p_rail_id, case when v_count < v_max or p_writer = '' then p_writer else v_others end)
    returning way_id into v_id;
  end if;
  return v_id;
end
$$;
comment on function outbox.way_id(smallint, smallint, text) is 'The number of a way, made on first use.';
