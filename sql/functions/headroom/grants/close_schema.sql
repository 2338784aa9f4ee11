-- Revokes every right in a schema of ours from everybody, by name also from those to whom a platform's default privileges may have given
-- something. What the grants of the schema give afterwards is then all that anybody has.
create or replace function headroom.close_schema(p_schema text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_who text := concat_ws(', ', 'public', (
    select string_agg(quote_ident(r.rolname), ', ') from pg_roles r
     where r.rolname in ('anon', 'authenticated', 'service_role', 'authenticator', 'headroom_gateway',
                         'headroom_ingest', 'headroom_executor', 'headroom_control', 'headroom_auditor')));
  v_ours text;
begin
  if p_schema <> 'public' then
    execute format('revoke all on schema %I from %s', p_schema, v_who);
    execute format('revoke all on all tables in schema %I from %s', p_schema, v_who);
    execute format('revoke all on all sequences in schema %I from %s', p_schema, v_who);
    execute format('revoke all on all functions in schema %I from %s', p_schema, v_who);
    return;
  end if;
  -- In public not everything is ours, so there it goes by owner.
  for v_ours in
    select format('function %s', p.oid::regprocedure) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.proowner = 'headroom_owner'::regrole
    union all
    select format('table %s', c.oid::regclass) from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relowner = 'headroom_owner'::regrole and c.relkind in ('r', 'p', 'v', 'm')
  loop
    execute format('revoke all on %s from %s', v_ours, v_who);
  end loop;
end
$$;
comment on function headroom.close_schema(text) is 'Revokes everything in a schema of ours from everybody but the owner.';
