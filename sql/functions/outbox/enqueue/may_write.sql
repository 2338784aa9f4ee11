-- Whether the role that enqueues is among the writers that a stream names.
create or replace function outbox.may_write(p_writers name[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from pg_roles r where r.rolname = any (p_writers) and pg_has_role(outbox.enqueuer()::name, r.oid, 'member'));
$$;
comment on function outbox.may_write(name[])
  is 'Whether the role that enqueues is, or is a member of, one of the writers of a stream.';
