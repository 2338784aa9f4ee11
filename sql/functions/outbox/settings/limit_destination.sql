-- Sets the limits of a destination: the smallest gap between two sends, and when its circuit opens. A name that ends in a colon is for all
-- destinations that begin with it, "*" for all that have no limits of their own. Relays apply it at their next claim; nothing that they
-- lock is touched.
create or replace function outbox.limit_destination(
  p_name text, p_min_interval_ms integer default null, p_failure_threshold integer default null, p_open_base_ms integer default null
) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into outbox.limits as l (name, min_interval_ms, failure_threshold, open_base_ms)
  values (p_name, p_min_interval_ms, p_failure_threshold, p_open_base_ms)
  on conflict (name) do update
     set min_interval_ms = coalesce(excluded.min_interval_ms, l.min_interval_ms),
         failure_threshold = coalesce(excluded.failure_threshold, l.failure_threshold),
         open_base_ms = coalesce(excluded.open_base_ms, l.open_base_ms), changed_at = now();
exception when check_violation or not_null_violation then
  perform headroom.fail('invalid_input', format('The limits of destination "%s" are out of range.', left(p_name, 80)), sqlerrm,
    'A name has 1 to 200 characters; the gap is 0 to 86400000 ms, the threshold 1 or more, the opening 1 to 3600000 ms.');
end
$$;
comment on function outbox.limit_destination(text, integer, integer, integer)
  is 'Rate limit and circuit settings of a destination, or of a kind of them.';
