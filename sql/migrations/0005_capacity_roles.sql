-- run as: migrator
-- The schema of the workflow, and the roles under which requests over HTTP run. Supabase has these roles already; elsewhere
-- they are made here, without a login: whoever deploys the gateway gives it one.
do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'anon',             -- nobody in particular: the holder of a confirmation link
    'authenticated',    -- a member, named by the claims of a verified token
    'service_role',     -- a machine that acts for members
    'headroom_gateway'  -- our own HTTP server's login, believed like PostgREST's when it states claims
  ] loop
    begin
      execute format('create role %I nologin', v_role);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
  begin
    create role authenticator noinherit nologin;
  exception when duplicate_object or unique_violation then
    null;
  end;

  foreach v_role in array array['authenticator', 'headroom_gateway'] loop
    begin
      execute format('grant anon, authenticated, service_role to %I', v_role);
    exception when insufficient_privilege then
      -- Roles that somebody else made: a platform that has them has also connected them.
      null;
    end;
  end loop;
end
$$;

create schema if not exists capacity authorization headroom_owner;
comment on schema capacity is 'The workflow: requests and their events, members and policies, confirmation tokens, timers. Private.';
grant usage on schema public to anon, authenticated, service_role;
