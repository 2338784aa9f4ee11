-- The customer to whom one of the marks belongs, the first mark before the others; if none is known, a new one, whose key is the first
-- mark. Marks that nobody has are the customer's from then on, so that an id joins the address with which it comes.
--
-- Two who bring the same new mark at once get one customer: the insert decides, and whoever comes second waits for the first and takes
-- its customer, also for the marks that only the second has. Marks are inserted in one order, so that no two wait for each other.
create or replace function capacity.find_customer(p_workspace_id text, p_marks bytea[]) returns bytea
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea;
  v_known bigint;
  v_new bytea[];
begin
  select m.customer_key, count(*) over () into v_key, v_known
    from capacity.customer_marks m where m.workspace_id = p_workspace_id and m.mark = any (p_marks)
   order by array_position(p_marks, m.mark) limit 1;
  if v_known = cardinality(p_marks) then
    return v_key;
  end if;
  v_key := coalesce(v_key, p_marks[1]);
  with made as (
    insert into capacity.customer_marks as m (workspace_id, mark, customer_key)
    select p_workspace_id, u.mark, v_key from unnest(p_marks) u(mark) order by u.mark
    on conflict do nothing
    returning m.mark)
  select coalesce(array_agg(n.mark), '{}') into v_new from made n;
  if cardinality(v_new) = cardinality(p_marks) then
    return v_key;
  end if;
  select m.customer_key into strict v_key
    from capacity.customer_marks m
   where m.workspace_id = p_workspace_id and m.mark = any (p_marks) and m.mark <> all (v_new)
   order by array_position(p_marks, m.mark) limit 1;
  update capacity.customer_marks m set customer_key = v_key
   where m.workspace_id = p_workspace_id and m.mark = any (v_new) and m.customer_key <> v_key;
  return v_key;
end
$$;
comment on function capacity.find_customer(text, bytea[]) is 'The key of the customer with these marks, who is made when there is none.';
