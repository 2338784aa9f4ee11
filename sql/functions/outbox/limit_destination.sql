-- Sets the limits of a destination: the least gap between two sends, and when its circuit opens. Made on first use.
create or replace function outbox.limit_destination(
  p_name text, p_min_interval_ms integer default null, p_failure_threshold integer default null, p_open_base_ms integer default null
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Asked for before the update begins: a row made by the update's own condition would be too new for it to see.
  v_destination_id integer := outbox.destination_id(p_name);
begin
  update outbox.destinations d
     set min_interval_ms = coalesce(p_min_interval_ms, d.min_interval_ms),
         failure_threshold = coalesce(p_failure_threshold, d.failure_threshold),
         open_base_ms = coalesce(p_open_base_ms, d.open_base_ms), changed_at = now()
   where d.destination_id = v_destination_id;
exception when check_violation then
  raise exception 'the limits of destination "%" are out of range', left(p_name, 80) using errcode = 'HR003';
end
$$;
comment on function outbox.limit_destination(text, integer, integer, integer) is 'Rate limit and circuit settings of a destination.';
