-- Whether a relay runs: one that reported recently and has not ended.
create or replace function outbox.relays_run() returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from outbox.relays r where r.seen_at > now() - interval '3 minutes' and r.ended_at is null);
$$;
comment on function outbox.relays_run() is 'Whether a relay runs.';
