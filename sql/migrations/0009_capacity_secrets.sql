-- run as: migrator
-- What secrets and identity need of the server, and the indexes behind "who may see it".

-- pgcrypto encrypts the secrets of a database without Vault. It goes into a schema of its own kind, as platforms do it, and
-- not into public, whose functions are exposed over HTTP. Without it everything works but capacity.set_secret().
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

  -- The gateway takes on a role for each request. Until it has, it shall have no rights at all: with inherited ones, a
  -- forgotten SET ROLE would read every workspace. From 16 on inheritance is a property of each grant.
  begin
    if (select r.rolinherit from pg_roles r where r.rolname = 'headroom_gateway') then
      alter role headroom_gateway noinherit;
    end if;
  exception when insufficient_privilege then
    null;
  end;
  begin
    if current_setting('server_version_num')::integer >= 160000 then
      execute 'grant anon, authenticated, service_role to headroom_gateway with inherit false';
    end if;
  exception when insufficient_privilege then
    null;
  end;
end
$$;

set local role headroom_owner;
create index requests_authority_role on capacity.requests (workspace_id, (review_plan #>> '{commercial,authority,role}'))
  where review_plan #>> '{commercial,authority,kind}' = 'role';
create index requests_authority_member on capacity.requests (workspace_id, (review_plan #>> '{commercial,authority,member}'))
  where review_plan #>> '{commercial,authority,kind}' = 'member';
reset role;
