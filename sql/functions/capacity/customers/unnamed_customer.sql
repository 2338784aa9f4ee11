-- The customer of an address, if nobody has given that customer an id.
create or replace function capacity.unnamed_customer(p_workspace_id text, p_by_address bytea) returns bytea
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select m.customer_key from capacity.customer_marks m
   where m.workspace_id = p_workspace_id and m.mark = p_by_address
     and not exists (select from capacity.customer_marks o
                      where o.workspace_id = p_workspace_id and o.customer_key = m.customer_key and o.is_id);
$$;
comment on function capacity.unnamed_customer(text, bytea) is 'The customer of an address who has no id. Nullable: p_by_address, result.';
