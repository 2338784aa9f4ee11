-- A destination exists once somebody names it.
create or replace function outbox.destination_id(p_name text) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id integer;
begin
  select destination_id into v_id from outbox.destinations where name = p_name;
  if not found and p_name is not null then
    insert into outbox.destinations (name) values (p_name) on conflict (name) do nothing;
    select destination_id into v_id from outbox.destinations where name = p_name;
  end if;
  return v_id;
end
$$;
comment on function outbox.destination_id(text) is 'The number of a destination, made on first use.';
