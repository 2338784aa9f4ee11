-- The credentials of the installation's own rails, for relays that do not have them in their environment: of the names asked for, only
-- those that a registration assigns to a guarded rail, and no other secret. Anyone who can log in as a relay can call this too. Where Vault
-- keeps the secrets, that login is enough; elsewhere the key is needed as well. Each reader is noted.
create or replace function outbox.rail_credentials(p_names text[]) returns table (name text, value text)
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select h.name, h.value
    from headroom.hand_out_secrets(array(
           select distinct c from outbox.rails r cross join unnest(r.credentials) c where r.guarded and c = any (p_names))) h
$$;
comment on function outbox.rail_credentials(text[]) is 'The stored credentials of guarded rails, for relays. Nullable: value.';
