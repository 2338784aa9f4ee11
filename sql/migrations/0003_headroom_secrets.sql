-- run as: migrator
-- Secrets: what encrypts them, where they are kept, and under which key.

-- pgcrypto encrypts the secrets of a database without Vault. It goes into a schema of its own kind, as platforms do it, and not into
-- public, whose functions are exposed over HTTP. Without it everything works but headroom.set_secret().
do $$
begin
  if not exists (select from pg_extension where extname = 'pgcrypto') then
    begin
      create schema if not exists extensions;
      create extension pgcrypto with schema extensions;
    exception when others then
      raise warning 'pgcrypto could not be installed (%); secrets need it, or Supabase Vault', sqlerrm;
    end;
  end if;
  begin
    execute format('grant usage on schema %I to headroom_owner', (
      select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pgcrypto'));
  exception when insufficient_privilege or null_value_not_allowed then
    null;
  end;
end
$$;

set local role headroom_owner;

-- One place for whatever is sealed: secrets by name, and what endpoints keep to themselves.
create table headroom.boxes (
  name text primary key check (length(name) between 1 and 200),
  label text,
  box bytea,
  updated_at timestamptz not null default now()
);
comment on table headroom.boxes is 'What is sealed under a key that only the environment holds; null: Vault keeps it.';

-- One key for all processes, so that those which hold two keys, as while the key is being changed, agree.
create table headroom.sealing_key (
  only_one boolean primary key default true check (only_one),
  key_id bytea not null check (octet_length(key_id) = 8),
  since timestamptz not null default clock_timestamp()
);
comment on table headroom.sealing_key is 'The id of the key that secrets are sealed under; no row before the first one is sealed.';
comment on column headroom.sealing_key.key_id is 'As headroom.key_id() makes it: the key cannot be told from it.';

reset role;
