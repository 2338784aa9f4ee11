-- A relay declares its rails when it starts; a producer that starts first may do so itself. What a rail can prove never changes: rows of
-- others may go by it, and what happens after a lost answer depends on it.
create or replace function outbox.register_rail(
  p_name text, p_capability text, p_timeout_ms integer, p_dedup_window_ms bigint default null
) returns smallint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rail_id smallint;
  v_known text;
begin
  -- Looked up first: an upsert of an unchanged row would use up a number and write a row version at each start.
  select rail_id into v_rail_id from outbox.rails
   where name = p_name and capability = p_capability and timeout_ms = p_timeout_ms
     and dedup_window_ms is not distinct from p_dedup_window_ms;
  if found then
    return v_rail_id;
  end if;
  insert into outbox.rails (name, capability, timeout_ms, dedup_window_ms)
  values (p_name, p_capability, p_timeout_ms, p_dedup_window_ms)
  on conflict (name) do update set
    timeout_ms = excluded.timeout_ms, dedup_window_ms = excluded.dedup_window_ms, registered_at = now()
  returning rail_id, capability into v_rail_id, v_known;
  if v_known <> p_capability then
    perform headroom.fail('conflict', format('Rail "%s" is registered as %s, not as %s.', p_name, v_known, p_capability),
      'what a rail can prove is fixed when it is first registered',
      'Give the rail another name; rows name it from then on. Nothing was changed.');
  end if;
  return v_rail_id;
exception when check_violation or not_null_violation then
  perform headroom.fail('invalid_input', format('Rail "%s" was not registered.', left(p_name, 80)), sqlerrm,
    'A rail has a lower-case name, a capability (idempotent, lookup, blind) and a time-out of at most 30,000 ms.');
end
$$;
comment on function outbox.register_rail(text, text, integer, bigint) is 'Declares a rail and what it can prove.';
