-- Switches JIT off for every entry function: those that roles other than the owner may call, and those of triggers, which run in a
-- producer's statement or commit. Functions that these call inherit it, so it holds however a function is reached: by a relay, over
-- PostgREST, in psql, in an application's own session, by pg_cron.
--
-- A server compiles a plan once its estimated cost is high, and compiling takes a hundred times longer than what these functions do. Their
-- estimates are too high: before PostgreSQL 18 a method that is switched off (enable_seqscan = off) costs ten thousand million, and the
-- archive has many partitions. Functions without a SET clause are expressions that the planner inlines, so they are left out; and a
-- function that switches JIT off for the rest of the session must not have the setting, which would end with the function.
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
comment on function headroom.switch_off_jit() is 'Switches JIT off for every entry function.';
