-- A relay's sign of life, and whether it wants to be notified. Losing this write to a crash costs nothing, so it does not
-- wait for the disk. A relay that was forgotten while it slept is added again.
create or replace function outbox.note_relay(p_relay_id integer, p_name text, p_wants_notify boolean) returns void
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select set_config('synchronous_commit', 'off', true);
  insert into outbox.relays as r (relay_id, name, wants_notify) overriding system value
  select p_relay_id, left(coalesce(p_name, 'relay'), 200), coalesce(p_wants_notify, false) where p_relay_id is not null
  on conflict (relay_id) do update set seen_at = now(), wants_notify = excluded.wants_notify;
  select outbox.note_served((select r.rails from outbox.relays r where r.relay_id = p_relay_id));
$$;
comment on function outbox.note_relay(integer, text, boolean) is 'Sign of life of a relay.';
