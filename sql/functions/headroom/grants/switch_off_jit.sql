-- Switches JIT off for every function by which somebody enters: those that others than the owner may call, and those of triggers, which a
-- producer's statement or commit runs. Whatever these call inherits it, so it holds however a function is reached: by a relay, over
-- PostgREST, in psql, in an application's own session, by pg_cron.
--
-- A server compiles a plan once its estimated cost is high, and compiling takes a hundred times longer than what these functions do. Their
-- estimates are high for no reason: before PostgreSQL 18 a method that is switched off (enable_seqscan = off) counts ten thousand
-- million, and the archive has so many partitions. Functions without a SET clause are expressions that the planner puts in place of their
-- call; and one that switches JIT off for what comes after it must not have the setting, which would end with the function.
create or replace function headroom.switch_off_jit() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_entry regprocedure;
begin
  for v_entry in
    select p.oid from pg_proc p
     where p.proowner = 'headroom_owner'::regrole and not p.proconfig @> '{jit=off}' and p.prosrc not like '%set_config(''jit''%'
       and (p.prorettype = 'trigger'::regtype
            or exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee <> p.proowner))
  loop
    execute format('alter function %s set jit = off', v_entry);
  end loop;
end
$$;
comment on function headroom.switch_off_jit() is 'Switches JIT off for every function by which somebody enters.';
