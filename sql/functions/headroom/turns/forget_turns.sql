-- Forgets turns of single persons, customers and workspaces a day after they were made, unless a transaction holds them: this table must
-- not record who was told something. Returns how many.
create or replace function headroom.forget_turns(p_most integer) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from headroom.turns t
   where t.name in (select o.name from headroom.turns o
                     where o.name like '%:%' and o.made_at < now() - interval '1 day' limit p_most for update skip locked);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function headroom.forget_turns(integer) is 'Forgets turns that were made for one person, customer or workspace; how many.';
