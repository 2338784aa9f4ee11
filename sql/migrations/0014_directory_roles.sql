-- run as: migrator
-- The schema of who there is, and the roles under which requests over HTTP run. Supabase has these roles already; elsewhere they are
-- made here, without a login: whoever deploys the gateway gives it one.
do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'anon',             -- nobody in particular: the holder of a confirmation link
    'authenticated',    -- a member, named by the claims of a verified token
    'service_role'      -- a machine that acts for members
  ] loop
    begin
      execute format('create role %I nologin', v_role);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
  -- Both take on a role for each request. Until they have, they shall have no rights at all: with inherited ones, a forgotten SET ROLE
  -- would read every workspace.
  foreach v_role in array array[
    'authenticator',    -- PostgREST's login
    'headroom_gateway'  -- our own HTTP server's login, believed like PostgREST's when it states claims
  ] loop
    begin
      execute format('create role %I noinherit nologin', v_role);
    exception when duplicate_object or unique_violation then
      null;
    end;
    begin
      execute format('grant anon, authenticated, service_role to %I', v_role);
    exception when insufficient_privilege then
      -- Roles that somebody else made: a platform that has them has also connected them.
      null;
    end;
  end loop;

  -- Somebody may have made the gateway's role beforehand, to give it a login. From 16 on inheritance is a property of each grant too.
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

create schema directory authorization headroom_owner;
comment on schema directory is 'Who there is: workspaces, members, groups, identities, API keys, and who calls. Private.';
