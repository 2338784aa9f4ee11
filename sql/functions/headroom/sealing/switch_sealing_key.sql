-- From now on everything is sealed under the caller's current key. Waits for transactions that seal under the previous one, so that the
-- secrets that they store can be sealed again. Returns whether the key changed.
create or replace function headroom.switch_sealing_key() returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into headroom.sealing_key as k (key_id) values (headroom.key_id(headroom.current_key()))
  on conflict (only_one) do update set key_id = excluded.key_id, since = clock_timestamp() where k.key_id <> excluded.key_id;
  return found;
end
$$;
comment on function headroom.switch_sealing_key() is 'Makes the caller''s current key the one that secrets are sealed under.';
