-- Copies what a delivery of the workflow brought back to where requests can be found by it. The lane's key says which request it
-- is, and a lane of another stream, or one that belongs to no request, is none of ours.
create or replace function capacity.keep_capture() returns trigger
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into capacity.request_captures as c (request_id, name, value)
  select left(l.key, -length(k.ending)), new.name, new.value #>> '{}'
    from outbox.lanes l
    join outbox.streams s on s.stream_id = l.stream_id and s.name = 'capacity'
   cross join (select case new.name when 'slack_thread_ts' then ':slack' else ':linear' end as ending) k
   where l.lane_id = new.lane_id and l.key ~ ('^CR-[0-9]{4}-[0-9]{6,}' || k.ending || '$') and new.value #>> '{}' is not null
  on conflict (request_id, name) do update set value = excluded.value;
  return null;
end
$$;
comment on function capacity.keep_capture() is 'Keeps a capture of the workflow under its request.';
