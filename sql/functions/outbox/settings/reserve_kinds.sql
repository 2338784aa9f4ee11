-- Reserves kinds of destinations for our own functions, for the migrator's registrations. A kind ends in a colon, or is a whole name.
create or replace function outbox.reserve_kinds(p_kinds text[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  insert into outbox.reserved_kinds (kind) select k from unnest(p_kinds) k on conflict do nothing;
$$;
comment on function outbox.reserve_kinds(text[]) is 'Reserves kinds of destinations for our own functions.';
