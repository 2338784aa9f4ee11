-- Gives a role what a producer needs: the call, and the insert with its answer. This does not include reading: the view runs with the
-- rights of the caller, who has none on the tables behind it. A role that no longer exists is ignored.
create or replace function notify.grant_producer(p_role name) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_right record;
begin
  if exists (select from pg_roles r where r.rolname = p_role) then
    for v_right in select * from notify.producer_rights() loop
      execute format('grant %s on %s to %I', v_right.privileges, v_right.object, p_role);
    end loop;
  end if;
end
$$;
comment on function notify.grant_producer(name) is 'Gives a role the rights of a producer.';
