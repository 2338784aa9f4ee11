-- run as: migrator
-- The roles of the engine, and the schema that every layer stands on. Roles are cluster-wide: another database of the same cluster
-- may create them at this very moment, so "exists already" is an ordinary answer here.
do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'headroom_owner',     -- owns every object and every definer function; nobody logs in as it
    'headroom_ingest',    -- may enqueue, and nothing else
    'headroom_executor',  -- may run a relay: claim, settle, reap
    'headroom_control',   -- may read everything and work dead letters
    'headroom_auditor'    -- may read all but the lane numbers, and change nothing
  ] loop
    begin
      execute format('create role %I nologin', v_role);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;

  begin
    -- Plain form on purpose: "with set" does not parse on PostgreSQL 15.
    execute format('grant headroom_owner to %I', current_user);
  exception when insufficient_privilege then
    raise exception 'role "%" may not use headroom_owner, which another role created', current_user
      using errcode = 'HR012',
            hint = format('Migrate as the role that migrated first, or let it run: grant headroom_owner to %I with admin option',
                          current_user);
  end;
end
$$;

create schema headroom authorization headroom_owner;
comment on schema headroom
  is 'What all layers share: refusals, secrets, checks, the session''s claims, hooks, and the migrator''s history. Private.';
