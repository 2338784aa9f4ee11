-- Whether a role may enqueue into a stream with these writers. A null role stands for our own functions, which may write everything; null
-- writers for everybody who was granted outbox.enqueue() in the first place.
create or replace function outbox.may_write(p_writers name[], p_role text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select p_role is null or p_writers is null
      or exists (select from pg_roles r where r.rolname = any (p_writers) and pg_has_role(p_role::name, r.oid, 'member'));
$$;
comment on function outbox.may_write(name[], text) is 'Whether a role is among those that a stream says may enqueue into it.';
