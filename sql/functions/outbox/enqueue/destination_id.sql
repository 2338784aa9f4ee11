-- The number of a tenant's queue to a destination, made on first use. Two producers that use it first at the same time make two numbers,
-- and do not wait for each other: both stand for the same name, by which limits and circuits are kept. The lookup must not read the whole
-- table: a session that began when the table was small would keep doing so.
create or replace function outbox.destination_id(p_name text, p_tenant_id text) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_id integer;
begin
  select d.destination_id into v_id from outbox.destinations d
   where d.name = p_name and d.tenant_id is not distinct from p_tenant_id order by d.destination_id limit 1;
  if not found then
    insert into outbox.destinations (name, tenant_id) values (p_name, p_tenant_id) returning destination_id into v_id;
  end if;
  return v_id;
end
$$;
comment on function outbox.destination_id(text, text) is 'The number of a queue, made on first use.';
