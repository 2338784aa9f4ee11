-- The customer with this id or address; if none is known, a new one, whose key is its first mark.
--
-- A given id alone decides: nobody can merge two customers by using the address of the other. A new id joins the customer of its
-- address only if that customer has no id yet. An unknown address belongs to the customer from then on.
--
-- Two transactions that bring the same new mark concurrently get one customer: the insert decides, and the second waits for the first.
-- The id always comes before the address, so a deadlock is impossible.
create or replace function capacity.find_customer(p_workspace_id text, p_by_id bytea, p_by_address bytea) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea;
  v_new boolean;
begin
  select m.customer_key into v_key from capacity.customer_marks m where m.workspace_id = p_workspace_id and m.mark = p_by_id;
  v_new := v_key is null and p_by_id is not null;
  if v_new then
    v_key := coalesce(capacity.unnamed_customer(p_workspace_id, p_by_address), p_by_id);
    insert into capacity.customer_marks (workspace_id, mark, customer_key, is_id) values (p_workspace_id, p_by_id, v_key, true)
    on conflict do nothing;
    v_new := found;
    if not v_new then
      select m.customer_key into strict v_key from capacity.customer_marks m where m.workspace_id = p_workspace_id and m.mark = p_by_id;
    end if;
  end if;
  if p_by_address is null then
    return v_key;
  end if;
  insert into capacity.customer_marks (workspace_id, mark, customer_key, is_id)
  values (p_workspace_id, p_by_address, coalesce(v_key, p_by_address), false)
  on conflict do nothing;
  if found then
    return coalesce(v_key, p_by_address);
  elsif v_key is null then
    select m.customer_key into strict v_key from capacity.customer_marks m where m.workspace_id = p_workspace_id and m.mark = p_by_address;
  elsif v_new and capacity.unnamed_customer(p_workspace_id, p_by_address) is not null then
    -- The address was added in between, by a caller who gave no id.
    update capacity.customer_marks m set customer_key = capacity.unnamed_customer(p_workspace_id, p_by_address)
     where m.workspace_id = p_workspace_id and m.mark = p_by_id
    returning m.customer_key into v_key;
  end if;
  return v_key;
end
$$;
comment on function capacity.find_customer(text, bytea, bytea)
  is 'The key of the customer with this id or address, created if there is none. Nullable: p_by_id, p_by_address.';
